"""The console's audit log: its filters, and events as sentences."""
