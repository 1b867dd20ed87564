"""The site of the documentation, beside Sphinx: how pages are read, and what they load."""
