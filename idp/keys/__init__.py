"""The master key, signing keys, JWS and its algorithms."""
