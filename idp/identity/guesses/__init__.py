"""Limits on guessing passwords and codes."""
