"""The management API: its callers, events, settings, policies and mail."""
