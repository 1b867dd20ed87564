"""Imports, exports and their jobs over HTTP, and what was restored."""
