"""How much room a person, a sign-in and a refresh take: `python -m benchmarks.growth`."""
