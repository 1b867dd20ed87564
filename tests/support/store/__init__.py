"""The content of the store: compared, generated, backed up, and its audit log."""
