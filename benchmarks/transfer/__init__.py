"""The speed of an import of very many people, and its effect on other requests."""
