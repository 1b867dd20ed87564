"""From settings to a running service: checks, the first start, the demo application."""
