"""What the command line knows to manage: a module for each part of the API."""
