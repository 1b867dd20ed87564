"""The protocol: OAuth 2.0 and OpenID Connect, without HTTP servers or databases."""
