"""The forms of the console and the account pages."""
