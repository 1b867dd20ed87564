"""Calls on connections to other identity providers."""
