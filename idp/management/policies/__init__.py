"""Calls on policies, page texts, message texts and pictures."""
