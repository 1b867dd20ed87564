"""Colours: the contrast of two, and their lightness in the colour space OKLCH."""
