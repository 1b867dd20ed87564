"""Limits: the policies of stored counts, and counts and queues in the memory of this process."""
