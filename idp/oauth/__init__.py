"""The protocol: OAuth 2.0 and OpenID Connect, without a word of HTTP servers or databases."""
