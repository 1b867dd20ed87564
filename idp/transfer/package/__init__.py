"""Packages: the documents that an import reads and an export writes."""
