"""Users, factors, sessions and limits on guessing; no HTTP, no protocol."""
