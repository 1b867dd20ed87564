"""Many records are found and read."""
