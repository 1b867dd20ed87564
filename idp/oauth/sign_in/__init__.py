"""A sign-in from the authorization request to its answer: which step is next, and each step."""
