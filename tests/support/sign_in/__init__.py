"""Persons, and their steps at the pages of a sign-in, a registration and their account."""
