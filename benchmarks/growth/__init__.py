"""The storage that a person, a sign-in and a refresh take: `python -m benchmarks.growth`."""
