"""The audit log: events, their chain and retention; and deferred work."""
