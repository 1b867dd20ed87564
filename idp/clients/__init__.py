"""Projects and the applications in them, as they are registered by the management API."""
