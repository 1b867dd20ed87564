"""Events, versioned changes of a record with their event, and deferred work."""
