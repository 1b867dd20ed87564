"""The duration of requests to a store at a network distance."""
