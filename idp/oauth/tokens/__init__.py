"""Access tokens, ID tokens and their claims, and whether a token is still valid."""
