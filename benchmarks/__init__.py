"""Measurements beside a yardstick in the same run: see README.md."""
