"""Calls on organizations, their domains and their members."""
