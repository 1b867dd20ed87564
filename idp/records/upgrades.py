"""Upgrades of records that earlier versions have stored; each can be interrupted and begun
again."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from idp.foundation.texts.text_folding import folded
from idp.records.clients import APPLICATIONS
from idp.records.domains import DOMAINS, new_domain
from idp.records.users import ORGANIZATIONS, USERS, User
from storage import Conflict, Insert, Stale, Store, Update, UpgradeStep

# The steps after which users are found by family name: the one before the store is opened, and the
# one for what 0.2 has stored beside this version.
FAMILY_KEYS: Final = "family keys"
FAMILY_KEYS_AGAIN: Final = "family keys again"

# Units that are committed in one round trip.
_BATCH_SIZE: Final = 500


async def add_primary_domains(store: Store) -> None:
    """Adds for each organization the record of its primary domain, as a verified domain."""
    async for organization in store.scan(ORGANIZATIONS):
        created_at, domain = organization.created_at, organization.primary_domain
        record = new_domain(organization.id, domain, created_at, is_verified=True)
        record.sequence = 0
        with suppress(Conflict):  # it exists already
            await store.commit(Insert(DOMAINS, record))


async def add_search_keys(store: Store) -> None:
    """Sets, for each user who lacks them, the fields by which the e-mail address and the display
    name are searched."""
    units: list[list[Update]] = []
    async for user in store.scan(USERS):
        keys = {
            "address_key": folded(user.email.address) if user.email else None,
            "display_key": folded(user.profile.display_name),
        }
        if (user.address_key, user.display_key) != tuple(keys.values()):
            unchanged = {"sequence": user.sequence}  # a concurrent change sets them, too
            units.append([Update(USERS, user.id, set=keys, expect=unchanged)])
        if len(units) == _BATCH_SIZE:
            await _commit(store, units)
            units = []
    await _commit(store, units)


async def set_allowed_users(store: Store) -> None:
    """Sets `allowed_users` of each application to `everybody`, which was the rule before the field
    existed.
    """
    units: list[list[Update]] = []
    async for client in store.scan(APPLICATIONS):
        if client.allowed_users == "everybody":
            unchanged = {"sequence": client.sequence}
            value = {"allowed_users": "everybody"}
            units.append([Update(APPLICATIONS, client.id, set=value, expect=unchanged)])
        if len(units) == _BATCH_SIZE:
            await _commit(store, units)
            units = []
    await _commit(store, units)


async def normalize_login_keys(store: Store) -> None:
    """Sets the fields by which users are found whose user name or address has an internationalised
    domain. That of the name stays as it is where another user has the name with the domain in
    Unicode.
    """
    units: list[list[Update]] = []
    async for user in store.scan(USERS):
        # Two units, so that a name which stays as it is does not keep the address from changing.
        for keys in ({"login_key": folded(user.user_name)}, _address_keys(user)):
            stored = {name: getattr(user, name) for name in keys}
            if stored != keys:
                units.append([Update(USERS, user.id, set=keys, expect=stored)])
        if len(units) >= _BATCH_SIZE:
            await _commit(store, units)
            units = []
    await _commit(store, units)


def _address_keys(user: User) -> dict[str, str | None]:
    if user.email is None:
        return {}
    key = folded(user.email.address)
    # What follows the address is the organization in which alone it is a login name.
    _, line_break, org_id = (user.email_key or "").partition("\n")
    email_key = None if user.email_key is None else f"{key}{line_break}{org_id}"
    return {"address_key": key, "email_key": email_key}


async def add_family_keys(store: Store) -> None:
    """Sets, for each user for whom it is not the folded family name, the field by which that name
    is searched."""
    units: list[list[Update]] = []
    async for user in store.scan(USERS):
        name = user.profile.family_name
        key = folded(name) if name else None
        if user.family_key != key:
            unchanged = {"profile.family_name": name, "family_key": user.family_key}
            units.append([Update(USERS, user.id, set={"family_key": key}, expect=unchanged)])
        if len(units) == _BATCH_SIZE:
            await _commit(store, units)
            units = []
    await _commit(store, units)


async def _commit(store: Store, units: list[list[Update]]) -> None:
    for outcome in await store.commit_each(units):
        if outcome is not None and not isinstance(outcome, Stale | Conflict):
            raise outcome


STEPS: Final = (
    UpgradeStep("primary domains", add_primary_domains),
    UpgradeStep("search keys", add_search_keys),
    UpgradeStep("allowed users", set_allowed_users),
    UpgradeStep("login keys", normalize_login_keys),
    UpgradeStep(FAMILY_KEYS, add_family_keys),
    UpgradeStep(FAMILY_KEYS_AGAIN, add_family_keys, is_late=True),
)
