"""Secrets of programs: their check, their last use, and the limit on wrong ones."""
