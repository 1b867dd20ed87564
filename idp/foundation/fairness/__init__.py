"""What clients share fairly: a queue in which they take turns, and whose turn it is."""
