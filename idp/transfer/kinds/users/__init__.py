"""Rows of users, and of what belongs to one."""
