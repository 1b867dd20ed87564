"""The product's command line as a later version would be, whose records need an upgrade."""

from __future__ import annotations

from idp import records
from idp.cli import main
from idp.start import bootstrap
from storage import Schema, Update, UpgradeStep


async def rename(store):
    async for each in store.scan(records.ORGANIZATIONS):
        await store.commit(Update(records.ORGANIZATIONS, each.id, set={"name": "renamed"}))


records.SCHEMA = bootstrap.SCHEMA = Schema(
    version=4, steps=(UpgradeStep("rename", rename), UpgradeStep("again", rename, is_late=True))
)

if __name__ == "__main__":
    main()
