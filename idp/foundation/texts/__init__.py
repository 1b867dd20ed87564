"""Texts that people enter: what is ignored in them, and the forms in which they are compared."""
