"""Backup, restore and copy of a store: all that an installation is, in one encrypted file."""
