"""Applications that speak OAuth 2.0 and OpenID Connect to the service, and the responses they
get."""
