"""Import jobs: their states, their batches and the processes that plan rows."""
