"""Measures the processor time of backups and restores: `python -m benchmarks.backup`."""
