"""The product's command line, whose processes look for a new certificate every second."""

from __future__ import annotations

from idp.cli import main
from idp.server import certificate

certificate.CHECK_SECONDS = 1.0

if __name__ == "__main__":
    main()
