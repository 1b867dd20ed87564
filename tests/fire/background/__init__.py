"""Processes that import, seal, export or back up, and are killed at it."""
