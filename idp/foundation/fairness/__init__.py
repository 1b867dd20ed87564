"""Fairness between clients: a queue in which they take turns, and a limit on how many requests
begin at once."""
