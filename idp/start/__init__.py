"""From settings to a running service: checks, first start, the demo application."""
