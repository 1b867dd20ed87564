"""The rules of an identity service: the protocol (oauth), the people (identity), the start."""

__version__ = "0.1.0"
