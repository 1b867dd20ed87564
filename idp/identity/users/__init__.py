"""Users: finding, creating, verifying, and what they may do."""
