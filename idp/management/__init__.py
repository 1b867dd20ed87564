"""The functions of the management API. Each takes a `Call` and returns an answer."""
