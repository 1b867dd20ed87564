"""A sign-in from the authorization request to its response: the choice of the next step, and the
steps."""
