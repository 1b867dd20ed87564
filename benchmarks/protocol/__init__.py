"""How fast the protocol's endpoints are, beside bare handlers and another provider."""
