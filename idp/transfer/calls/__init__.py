"""The calls of the management API for imports, exports and their jobs."""
