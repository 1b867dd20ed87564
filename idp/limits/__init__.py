"""What this process counts in memory: refused attempts, requests, comparisons under way."""
