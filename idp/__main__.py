"""`idp`, or `python -m idp`: the command line."""

from __future__ import annotations

from idp.cli import main

if __name__ == "__main__":
    main()
