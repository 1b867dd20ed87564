"""The checker finds what it is there for: each fault by itself, in a store that is whole."""

from __future__ import annotations

from types import SimpleNamespace

import msgspec
import pytest

from idp.foundation import opaque_tokens
from idp.identity.users import grant_ids
from idp.records import (
    APPLICATIONS,
    AUTHORIZATIONS,
    EVENTS,
    MEMBERSHIPS,
    ORGANIZATIONS,
    SESSIONS,
    SIGNING_KEYS,
    USERS,
)
from storage import Delete, Insert, Update
from tests.support import invariants
from tests.support.store.stored import everything, only


async def half_a_user(store):
    user = (await store.find(USERS, {"login_key": "demo"})).records[0]
    await store.commit(Update(USERS, user.id, set={"org_id": "nowhere"}))


async def an_organization_without_an_owner(store):
    for owner in [one async for one in store.scan(MEMBERSHIPS) if one.org_id]:
        await store.commit(Delete(MEMBERSHIPS, owner.id))


async def an_organization_without_a_domain(store):
    organization = await only(store, ORGANIZATIONS)
    await store.commit(Update(ORGANIZATIONS, organization.id, set={"primary_domain": ""}))


async def a_login_name_that_is_not_normalised(store):
    user = (await store.find(USERS, {"login_key": "demo"})).records[0]
    await store.commit(Update(USERS, user.id, set={"login_key": "Demo"}))


async def a_hash_that_nobody_can_read(store):
    user = (await store.find(USERS, {"login_key": "demo"})).records[0]
    await store.commit(Update(USERS, user.id, set={"password.hash": "secret"}))


async def tokens_of_a_code_that_was_not_redeemed(store):
    authorization = await only(store, AUTHORIZATIONS)
    await store.commit(Update(AUTHORIZATIONS, authorization.id, set={"code.redeemed_at": None}))


async def a_family_in_two_records(store):
    authorization = await only(store, AUTHORIZATIONS)
    authorization.id = "another"
    await store.commit(Insert(AUTHORIZATIONS, authorization))


async def a_spent_token_that_counts(store):
    authorization = await only(store, AUTHORIZATIONS)
    same = {"refresh.previous_hash": authorization.refresh.current_hash}
    await store.commit(Update(AUTHORIZATIONS, authorization.id, set=same))


async def a_deactivation_that_ends_nothing(store):
    client = await only(store, APPLICATIONS)
    await store.commit(Update(APPLICATIONS, client.id, set={"state": "inactive"}))


async def two_keys_that_sign(store):
    waiting = [one async for one in store.scan(SIGNING_KEYS) if one.state == "next"]
    await store.commit(Update(SIGNING_KEYS, waiting[0].id, set={"state": "active"}))


async def a_published_private_key(store):
    key = next(iter([one async for one in store.scan(SIGNING_KEYS) if one.public]))
    told = msgspec.json.decode(key.public) | {"d": "secret"}
    await store.commit(
        Update(SIGNING_KEYS, key.id, set={"public": msgspec.json.encode(told).decode()})
    )


async def a_change_without_an_event(store):
    session = await only(store, SESSIONS)
    await store.commit(Update(SESSIONS, session.id, increment={"sequence": 1}))


async def an_event_without_a_change(store):
    event = next(iter([one async for one in store.scan(EVENTS)]))
    event.id, event.sequence = "another", 2
    await store.commit(Insert(EVENTS, event))


FAULTS = [
    half_a_user,
    an_organization_without_an_owner,
    an_organization_without_a_domain,
    a_login_name_that_is_not_normalised,
    a_hash_that_nobody_can_read,
    tokens_of_a_code_that_was_not_redeemed,
    a_family_in_two_records,
    a_spent_token_that_counts,
    a_deactivation_that_ends_nothing,
    two_keys_that_sign,
    a_published_private_key,
    a_change_without_an_event,
    an_event_without_a_change,
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
async def test_the_checker_finds(fault, server, demo, visitor):
    await demo.tokens(visitor, *server.user)
    await invariants.hold(server.store)
    await fault(server.store)

    with pytest.raises((AssertionError, invariants.schemes.UnreadableHash)):
        await invariants.hold(server.store)


async def test_the_checker_finds_somebody_of_no_organization(server):
    """No store takes it by the record's type."""
    found = await everything(server.store)
    invariants.check_parents(found)
    next(iter(found["users"].values())).org_id = None

    with pytest.raises(AssertionError, match=r"users\.org_id names nobody"):
        invariants.check_parents(found)


@pytest.mark.parametrize(
    ("grant", "assignment", "waiting", "fault"),
    [
        ({"role_keys": ["seller"]}, {}, (), "no such role"),
        ({}, {"role_keys": ["buyer", "king"]}, (), "roles without a grant"),
        ({}, {"granted_by": "a former one"}, (), "roles by a grant that is gone"),
        (None, {}, (), "roles by a grant that is gone"),
        ({}, {"role_keys": ["buyer", "king"]}, ("project_grant.changed", "GRANT"), None),
        (None, {}, ("project_grant.deleted", "generation"), None),
    ],
)
def test_the_checker_finds_half_of_a_grant(grant, assignment, waiting, fault):
    id = grant_ids.of_grant("shop", "acme")
    one = {"id": id, "project_id": "shop", "granted_org_id": "acme", "role_keys": ["buyer"]}
    one = SimpleNamespace(**one | {"generation": "generation"} | (grant or {}))
    given = {"project_id": "shop", "org_id": "acme", "role_keys": ["buyer"]}
    given = SimpleNamespace(**given | {"granted_by": "generation"} | assignment)
    kind, owner = waiting or ("", "")
    found = {
        "projects": {"shop": None},
        "organizations": {"acme": None},
        "project_roles": {"buyer": SimpleNamespace(project_id="shop", key="buyer")},
        "project_grants": {} if grant is None else {id: one},
        "role_assignments": {"given": given},
        "leftovers": {"left": SimpleNamespace(kind=kind, owner_id=owner.replace("GRANT", id))},
    }
    if fault is None:
        invariants.check_grants(found)
        return

    with pytest.raises(AssertionError, match=fault):
        invariants.check_grants(found)


async def test_the_checker_finds_a_credential_in_the_clear(server, demo, visitor):
    tokens = await demo.tokens(visitor, *server.user)
    handed_out = [tokens["refresh_token"], tokens["access_token"], server.user[1]]
    await invariants.hold(server.store, secrets=handed_out)
    secret = opaque_tokens.split(tokens["refresh_token"], 2)[2]
    authorization = await only(server.store, AUTHORIZATIONS)
    await server.store.commit(
        Update(AUTHORIZATIONS, authorization.id, set={"nonce": f"seen: {secret}"})
    )

    with pytest.raises(AssertionError, match="in the clear"):
        await invariants.hold(server.store, secrets=handed_out)
