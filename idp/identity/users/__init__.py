"""Users: lookup, creation, verification of contacts, and permissions."""
