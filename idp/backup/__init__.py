"""Backup, restore and copy of a store: all data of an installation, in one encrypted file."""
