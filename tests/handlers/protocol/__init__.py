"""The endpoints of OAuth 2.0 and OpenID Connect: discovery, keys, devices, logout, refusals."""
