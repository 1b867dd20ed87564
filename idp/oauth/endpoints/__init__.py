"""The rules of each endpoint of the protocol, except the grants of the token endpoint."""
