"""The store beside the raw driver: `python -m benchmarks.storage`."""
