"""The store compared with the raw driver: `python -m benchmarks.storage`."""
