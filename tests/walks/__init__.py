"""Random walks through the pages of a sign-in."""
