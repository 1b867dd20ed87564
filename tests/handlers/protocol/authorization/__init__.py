"""The authorization endpoint and pushed authorization requests."""
