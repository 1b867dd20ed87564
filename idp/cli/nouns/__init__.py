"""The commands that only run operations: a module for each part of the API."""
