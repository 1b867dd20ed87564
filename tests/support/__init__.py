"""Fixtures and helpers that several tests share: replacements for the clock, for the source of
randomness and for other servers."""
