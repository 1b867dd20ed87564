"""Servers that a test starts beside the service: databases, proxies, mail, object storage."""
