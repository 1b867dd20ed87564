"""Sockets, signals, and the processes of the service."""
