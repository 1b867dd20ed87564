"""How hard a password is to guess: its strength, common words, and lists of breached passwords."""
