"""Mistakes of developers of applications, by endpoint, with what each is told."""
