"""The console's pages of applications."""
