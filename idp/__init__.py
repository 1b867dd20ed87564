"""The rules of an identity service, in floors: each package imports only those below it."""

__version__ = "0.3.0.dev0"
