"""The console's pages of users."""
