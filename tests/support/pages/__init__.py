"""Every page as its template makes it from samples."""
