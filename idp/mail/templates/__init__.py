"""The messages that the service sends, one module for each kind."""
