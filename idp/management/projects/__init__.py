"""Calls on projects, their applications, roles and grants."""
