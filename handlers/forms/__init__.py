"""Forms of the account pages and of the console, made from fields and operations."""
