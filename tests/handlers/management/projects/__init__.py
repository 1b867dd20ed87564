"""The management API on projects, applications, roles and keys."""
