"""Backups: all that an installation is, in one file that only its passphrase opens."""
