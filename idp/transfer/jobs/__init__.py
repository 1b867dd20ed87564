"""Import and export jobs: their life, their batches and the processes that plan rows."""
