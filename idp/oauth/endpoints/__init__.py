"""The rules of each endpoint of the protocol, but for the token endpoint's grants."""
