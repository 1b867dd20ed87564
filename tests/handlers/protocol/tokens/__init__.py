"""The token endpoint, its grants, and what its tokens are good for."""
