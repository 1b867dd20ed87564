"""A store is opened, upgraded, filled and closed."""
