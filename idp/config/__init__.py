"""Settings: what they are, what they may be, and where they are loaded from."""
