"""A sign-in from the authorization request to its response: which step is next, and each step."""
