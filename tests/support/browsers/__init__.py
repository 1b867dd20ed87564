"""Clients that speak HTTP to the service as a browser does, or byte by byte, and passkeys."""
