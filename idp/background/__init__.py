"""The schedule of background tasks, and the work that changes have deferred."""
