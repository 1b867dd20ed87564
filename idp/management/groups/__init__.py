"""Calls on groups, their members and their roles."""
