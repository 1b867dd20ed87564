"""Who signs in: organizations, users, their passwords, factors and sessions."""
