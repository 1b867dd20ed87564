"""Callers of the management API and users of the console, calls, and the records they act on."""
