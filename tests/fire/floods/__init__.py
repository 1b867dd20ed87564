"""Floods of one address: what they cost others."""
