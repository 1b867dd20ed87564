"""Sign-in at providers of OpenID Connect: the authorization code flow with PKCE."""
