"""The speed of the protocol's endpoints, compared with bare handlers and another provider."""
