"""Passwords: hashing, the rules for new ones, strength, and lists of breached ones."""
