"""Sockets, signals, and the service's several processes."""
