"""How Sphinx makes the site of these pages: `sphinx-build -W -n docs build/docs`."""

from __future__ import annotations

import sys
from pathlib import Path

from pygments.lexers.special import TextLexer

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from idp import __version__  # noqa: E402
from idp.foundation.product import NAME  # noqa: E402
from tests.support.site import source  # noqa: E402

project = NAME
version = release = __version__
extensions = ["myst_parser", "sphinx_copybutton"]
# What its anchors are named by, as sites that host repositories do.
myst_heading_anchors = 6
# Pages that say only where another one is now are for links from outside.
exclude_patterns = source.moved()
# The words of `smartquotes` would change what is copied.
smartquotes = False

html_theme = "furo"
html_title = f"{NAME} {release}"
html_logo = "brand/mark.svg"
html_favicon = "brand/mark.svg"
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#3346d3", "color-brand-content": "#3346d3"},
    "dark_css_variables": {"color-brand-primary": "#a3b1ff", "color-brand-content": "#a3b1ff"},
}


def setup(app):
    """Have each page read as the site shows it, and code for haproxy as plain text: Pygments does
    not know it."""
    app.add_lexer("haproxy", TextLexer)
    app.connect("source-read", lambda _, page, text: source.prepare(page, text))
