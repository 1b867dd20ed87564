"""Packages, imports, and files that come from other systems."""
