"""Authentication of clients, and verification of the tokens that requests carry."""
