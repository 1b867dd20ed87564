"""What a running program tells: its logs, metrics and traces."""
