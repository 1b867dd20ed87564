"""Pages for people: rendering, page settings, and pages that need no sign-in."""
