"""The calls of the management API on imports, exports and their jobs."""
