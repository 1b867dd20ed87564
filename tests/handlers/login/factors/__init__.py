"""Second factors and passkeys at the pages of a sign-in."""
