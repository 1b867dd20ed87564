"""What clients register: redirect URIs, web origins, presets, and names on the wire."""
