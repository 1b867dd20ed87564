"""Every page, rendered by its template from samples."""
