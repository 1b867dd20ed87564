"""The management API on organizations, their domains and members."""
