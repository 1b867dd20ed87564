"""HTML pages: their base handler, rendering, page settings, and pages that need no sign-in."""
