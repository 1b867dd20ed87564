"""The pages of a sign-in: passwords, factors, registration, reset, consent, logout."""
