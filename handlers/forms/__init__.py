"""The forms of the console and the account pages: fields, operations and texts of errors."""
