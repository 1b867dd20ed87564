"""How long a page of found users takes over many users, and which index answers it."""
