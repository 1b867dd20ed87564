"""Scheduled jobs, and the work that changes have deferred."""
