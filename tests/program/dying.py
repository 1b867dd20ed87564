"""The product's command line, with workers that end before they serve."""

from __future__ import annotations

import os

from idp.cli import main
from idp.server import listener


async def end(*_):
    os._exit(3)


listener._serve_as_worker = end

if __name__ == "__main__":
    main()
