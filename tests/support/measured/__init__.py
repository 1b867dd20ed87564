"""Logs and metrics of the service during a test, and the delays of its event loop."""
