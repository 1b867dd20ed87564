"""The pages on which users change their own account."""
