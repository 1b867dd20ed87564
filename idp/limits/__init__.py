"""Counts that this process has in memory: refused attempts, requests, running comparisons."""
