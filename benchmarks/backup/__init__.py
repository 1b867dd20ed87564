"""What backups and restores cost: `python -m benchmarks.backup`."""
