"""The data of registered clients: redirect URIs, web origins, presets, and names on the wire."""
