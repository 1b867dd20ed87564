"""Browsers, sessions, and the check of a password that opens one."""
