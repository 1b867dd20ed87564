"""Calls on users, and on their contacts, factors, keys, metadata and tokens."""
