"""Changes of what older programs have stored, each of which may be cut off and begun again."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from idp.records.domains import DOMAINS, new_domain
from idp.records.people import ORGANIZATIONS
from storage import Conflict, Insert, Store, UpgradeStep


async def add_primary_domains(store: Store) -> None:
    """Give each organization a record of its primary domain, which counts as verified."""
    async for organization in store.scan(ORGANIZATIONS):
        made_at, domain = organization.created_at, organization.primary_domain
        record = new_domain(organization.id, domain, made_at, is_verified=True)
        record.sequence = 0
        with suppress(Conflict):  # it is there
            await store.commit(Insert(DOMAINS, record))


STEPS: Final = (UpgradeStep("primary domains", add_primary_domains),)
