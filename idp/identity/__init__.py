"""People: users, factors, sessions and limits on guessing; no HTTP, no protocol."""
