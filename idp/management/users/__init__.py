"""Calls on users, and on what belongs to one."""
