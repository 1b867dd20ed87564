"""The duration of a search's page among many users, and the index that serves it."""
