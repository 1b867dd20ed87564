"""Rows of users, and of the records that belong to a user."""
