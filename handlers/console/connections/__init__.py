"""The console's pages of connections to other identity providers."""
