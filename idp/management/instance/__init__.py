"""Calls on the installation: settings, signing keys, events, outbox."""
