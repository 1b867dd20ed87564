"""A store with many users, most of them of one organization."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple, cast

from msgspec import Struct, structs

from idp.foundation.clock import SystemClock
from idp.foundation.randomness import SystemRandom
from idp.identity.users import lookup as user_lookup
from idp.identity.users.permissions import Rights
from idp.keys.master_key import MasterKey
from idp.management.call import Call
from idp.records import ALL, ORGANIZATIONS, USERS, Email, Organization, Phone, Profile, User
from idp.service import Service
from storage import Insert, Store, open_store

OTHERS: Final = 50  # organizations of a few users each
_BATCH_SIZE: Final = 1000


class Find(NamedTuple):
    """A call of `find` by a search."""

    where: Mapping[str, Any]
    order: str | None


class _Parts(Struct):
    """The attributes of a service that a search needs."""

    store: Any
    master_key: MasterKey
    clock: SystemClock


class _Watched:
    """A store that records the searches among users."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.finds: list[Find] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def find(self, collection: Any, where: Any = None, **options: Any) -> Any:
        if collection is USERS:
            self.finds.append(Find(where, options.get("order")))
        return await self._store.find(collection, where, **options)


class Filled(NamedTuple):
    """A service over the store, and the rate at which the users were stored."""

    service: Service
    watched: _Watched
    org_ids: Sequence[str]
    per_second: float

    @property
    def scopes(self) -> Mapping[str, str | None]:
        """The organizations in which users are searched; None: all."""
        large, medium, small = self.org_ids[:3]
        return {
            "all": None,
            "most of all": large,
            "a hundredth of all": medium,
            "a few of all": small,
        }

    def call(self, org_id: str | None) -> Call:
        """Returns the call of a search by a user with all permissions."""
        rights = Rights(everywhere=frozenset({"user.read"}), by_organization={})
        return Call(_user("caller", self.org_ids[0], 0), rights, "user.read", org_id)


@asynccontextmanager
async def filled(url: str, count: int) -> AsyncIterator[Filled]:
    """Returns a context with a store of so many users."""
    clock, random = SystemClock(), SystemRandom()
    store = open_store(url, now=clock.now, new_id=random.id)
    await store.open(ALL)
    try:
        org_ids = [random.id() for _ in range(2 + OTHERS)]
        await store.commit(*[Insert(ORGANIZATIONS, _organization(org_id)) for org_id in org_ids])
        began = time.perf_counter()
        for first in range(0, count, _BATCH_SIZE):
            units = [_unit(random, org_ids, n) for n in range(first, first + _BATCH_SIZE)]
            outcomes = await store.commit_each(units)
            assert not any(outcomes), outcomes  # noqa: S101 - a benchmark
        per_second = count / (time.perf_counter() - began)
        watched = _Watched(store)
        service = cast(Service, _Parts(watched, MasterKey(bytes(32), random), clock))
        yield Filled(service, watched, org_ids, per_second)
    finally:
        await store.close()


def _unit(random: SystemRandom, org_ids: list[str], n: int) -> list[Insert]:
    """Returns the unit that stores a user: one user in a hundred is in the second organization,
    and one in a small one."""
    n_of_hundred = n % 100
    org_id = org_ids[2 + n // 100 % OTHERS] if n_of_hundred == 0 else org_ids[n_of_hundred == 1]
    return [Insert(USERS, _user(random.id(), org_id, n))]


def _user(user_id: str, org_id: str, n: int) -> User:
    now, name = SystemClock().now(), f"person-{n}"
    family_name = f"Family{n * 7919 % 1_000_003}"  # in no order
    email = Email(address=f"{name}@example.com", is_verified=n % 3 > 0)
    profile = Profile(
        display_name=f"Some {family_name}", given_name="Some", family_name=family_name
    )
    user = User(
        id=user_id,
        org_id=org_id,
        kind="human",
        user_name=name,
        stamp="s",
        profile=profile,
        created_at=now,
        changed_at=now,
        email=email,
        phone=Phone(number=f"+4179{n:07}") if n % 2 else None,
        **user_lookup.keys(name, email, profile, org_id),
    )
    return structs.replace(user, state="locked") if n % 5000 == 0 else user


def _organization(org_id: str) -> Organization:
    now = SystemClock().now()
    return Organization(
        id=org_id,
        name=org_id,
        name_key=user_lookup.login_key(org_id),
        primary_domain=f"{user_lookup.login_key(org_id)}.example",
        stamp="s",
        created_at=now,
        changed_at=now,
    )
