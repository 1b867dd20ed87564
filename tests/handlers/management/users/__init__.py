"""The management API on users and service users."""
