"""The functions of the management API: each takes a `Call` and returns an answer."""
