"""What older programs have stored is brought to today's form, however often that is begun."""

from __future__ import annotations

import uuid
from contextlib import asynccontextmanager

import pytest
from msgspec import defstruct
from msgspec.structs import fields

from idp.identity.users.lookup import find_by_login_name
from idp.records import APPLICATIONS, USERS, Application, Email, Profile, User
from idp.records.upgrades import (
    add_family_keys,
    add_search_keys,
    normalize_login_keys,
    set_allowed_users,
)
from storage import Collection, Insert, Record, Update, open_store
from tests.support.clock import SteppingClock
from tests.support.store.stored import everything


async def test_users_of_before_are_found_by_address_and_display_name(server):
    now = server.clock.now()
    old = User(
        id="old",
        org_id="o",
        kind="human",
        user_name="old",
        login_key="old",
        stamp="s",
        profile=Profile(display_name="Old Ｍan"),
        created_at=now,
        changed_at=now,
        email=Email(address="Old@old.example"),
    )
    await server.store.commit(Insert(USERS, old))

    await add_search_keys(server.store)

    user, after = await server.store.get(USERS, "old"), await everything(server.store)
    assert (user.address_key, user.display_key) == ("old@old.example", "old man")
    assert user.sequence == 1
    await add_search_keys(server.store)
    assert await everything(server.store) == after


UserBefore = defstruct(
    "UserBefore",
    [
        (each.name, each.type, each.default)
        for each in fields(User)
        if each.name not in ("id", "family_key")
    ],
    bases=(Record,),
    kw_only=True,
)


async def test_people_of_before_are_found_by_family_name_and_an_interrupted_step_goes_on(server):
    """More people than one batch has; the release before stores and renames some meanwhile."""
    store, before = server.store, Collection(USERS.name, UserBefore)
    old = named("old", "old", server.clock.now())
    values = {each.name: getattr(old, each.name) for each in fields(UserBefore)}
    names = {f"u{n:04}": f"Ｍann {n}" if n % 2 else None for n in range(603)}
    for id, name in names.items():
        profile = Profile(display_name="Ada", family_name=name)
        more = {"id": id, "user_name": id, "login_key": id, "profile": profile}
        await store.commit(Insert(before, UserBefore(**values | more)))
    await store.commit(Update(USERS, "u0601", set={"family_key": "mann 601"}))

    await add_family_keys(store)

    keys = {user.id: user.family_key async for user in store.scan(USERS)}
    assert {id: keys[id] for id in names} == {
        id: name and f"mann {int(id[1:])}" for id, name in names.items()
    }
    renamed = {"profile.family_name": "Byron"}
    await store.commit(Update(USERS, "u0001", set=renamed))
    await add_family_keys(store)
    after = await everything(store)
    page = await store.find(USERS, {"family_key": "byron"})
    assert [user.id for user in page.records] == ["u0001"]
    await add_family_keys(store)
    assert await everything(store) == after


def named(user_name, login_key, now):
    return User(
        id=user_name,
        org_id="o",
        kind="human",
        user_name=user_name,
        login_key=login_key,
        stamp="s",
        profile=Profile(display_name="Ada"),
        created_at=now,
        changed_at=now,
    )


async def test_names_of_before_with_an_internationalised_domain_are_found_in_either_spelling(
    server,
):
    now, store = server.clock.now(), server.store
    for name in ("ada@xn--bcher-kva.de", "eva@xn--bcher-kva.de", "eva@bücher.de"):
        await store.commit(Insert(USERS, named(name, name, now)))

    await normalize_login_keys(store)

    after = await everything(store)
    for typed, found in {
        "ada@bücher.de": "ada@xn--bcher-kva.de",
        "ada@xn--bcher-kva.de": "ada@xn--bcher-kva.de",
        "eva@bücher.de": "eva@bücher.de",
        "eva@XN--bcher-kva.de": "eva@xn--bcher-kva.de",
    }.items():
        assert (await find_by_login_name(server.service, typed)).id == found
    await normalize_login_keys(store)
    assert await everything(store) == after


async def test_addresses_of_before_with_a_sharp_s_in_the_domain_are_found(server):
    now, store = server.clock.now(), server.store
    address = Email(address="ada@faß.de", is_verified=True)
    for org_id, scope in {"a": "", "b": "\nb"}.items():
        user = named(f"{org_id}@faß.de", f"{org_id}@fass.de", now)
        user.org_id, user.email, user.address_key = org_id, address, "ada@fass.de"
        user.email_key = f"ada@fass.de{scope}"
        await store.commit(Insert(USERS, user))

    await normalize_login_keys(store)

    after = await everything(store)
    for org_id, scope in {"a": "", "b": "\nb"}.items():
        user = await store.get(USERS, f"{org_id}@faß.de")
        assert user.login_key == f"{org_id}@faß.de"
        assert (user.address_key, user.email_key) == ("ada@faß.de", f"ada@faß.de{scope}")
    await normalize_login_keys(store)
    assert await everything(store) == after


NEW = ("allowed_users", "everybody_stamp", "granted_stamp")
Older = defstruct(
    "Older",
    [(each.name, each.type, each.default) for each in fields(Application) if each.name not in NEW],
    bases=(Record,),
    kw_only=True,
)


class Seen(Record):
    """What is to be seen of an application as it is stored."""

    sequence: int
    allowed_users: str | None = None


@asynccontextmanager
async def applications(url, kind):
    """The applications of a store, read as records of this kind."""
    store = open_store(url, now=SteppingClock().now, new_id=lambda: uuid.uuid4().hex)
    within = Collection(APPLICATIONS.name, kind)
    await store.open([within])
    try:
        yield store, within
    finally:
        await store.close()


@pytest.mark.full
@pytest.mark.promise("application users: upgrade")
async def test_applications_of_before_are_noted_as_open_to_everybody(server, tmp_path):
    url, party = f"sqlite:///{tmp_path}/store.sqlite3", await server.register("Old")
    one = await server.store.get(APPLICATIONS, party.client_id)
    values = {each.name: getattr(one, each.name) for each in fields(Older)}
    old = [Older(**values | {"id": f"c{n:04}"}) for n in range(1003)]
    async with applications(url, Older) as (store, within):
        await store.commit_each([[Insert(within, each)] for each in old])
    async with applications(url, Application) as (store, within):
        shut = {"allowed_users": "own_organization"}
        await store.commit(Update(within, "c0007", set=shut))

        for _ in range(2):
            await set_allowed_users(store)

    async with applications(url, Seen) as (store, within):
        found = {each.id: each async for each in store.scan(within)}
    assert found.pop("c0007").allowed_users == "own_organization"
    assert {(each.sequence, each.allowed_users) for each in found.values()} == {(1, "everybody")}
    assert len(found) == 1002
