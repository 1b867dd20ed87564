"""What people do at a browser, page by page, from its beginning to its end."""
