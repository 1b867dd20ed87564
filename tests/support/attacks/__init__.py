"""Requests of attackers: forged credentials, guesses, names that become markup."""
