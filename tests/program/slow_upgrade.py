"""The product's command line as a later version would be, whose upgrade step takes 12 seconds."""

from __future__ import annotations

import asyncio

from idp import records
from idp.cli import main
from idp.start import bootstrap
from storage import Schema, UpgradeStep

SECONDS = 12


async def wait(store):
    await asyncio.sleep(SECONDS)


records.SCHEMA = bootstrap.SCHEMA = Schema(version=9, steps=(UpgradeStep("slow", wait),))

if __name__ == "__main__":
    main()
