"""The stream of events: JSON lines, a long poll, and server-sent events."""
