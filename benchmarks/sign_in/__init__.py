"""What a sign-in tells by the time it takes, and what many at once cost everybody else."""
