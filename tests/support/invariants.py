"""Conditions that a store fulfils at any moment, also immediately after a process was killed.

`hold(store)` asserts them. It needs no running service, and reads only the store.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import msgspec

from idp.foundation import opaque_tokens
from idp.identity.sessions import security_stamps
from idp.identity.users import lookup as user_lookup
from idp.management.projects import project_grants
from idp.passwords import schemes
from idp.records import DEFERRED_WORK, INSTANCE_ID, SCHEMA
from storage import META
from tests.support.grant_invariants import check_grants
from tests.support.servers.mongod import connected
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything

PRIVATE_PARTS = {"d", "p", "q", "dp", "dq", "qi", "k"}
HASH_LENGTH = len(opaque_tokens.digest(""))
PARENTS = {
    "users": {"org_id": "organizations"},
    "organization_domains": {"org_id": "organizations"},
    "memberships": {"user_id": "users", "org_id": "organizations"},
    "projects": {"org_id": "organizations"},
    "applications": {"project_id": "projects", "org_id": "organizations"},
    "project_roles": {"project_id": "projects", "org_id": "organizations"},
    "project_grants": {
        "project_id": "projects",
        "org_id": "organizations",
        "granted_org_id": "organizations",
    },
    "role_assignments": {"user_id": "users", "project_id": "projects", "org_id": "organizations"},
    "app_keys": {"owner_id": "applications"},
    "client_origins": {"client_id": "applications"},
    "user_keys": {"owner_id": "users"},
    "user_metadata": {"user_id": "users"},
    "personal_access_tokens": {"user_id": "users"},
    "passkeys": {"user_id": "users"},
    "recovery_codes": {"user_id": "users"},
    "verifications": {"user_id": "users"},
    "outbox": {"user_id": "users"},
    "sessions": {"agent_id": "agents", "user_id": "users", "org_id": "organizations"},
    "session_clients": {"session_id": "sessions", "client_id": "applications"},
    "logout_messages": {
        "session_id": "sessions",
        "user_id": "users",
        "client_id": "applications",
    },
    "auth_requests": {
        "client_id": "applications",
        "device_id": "device_requests",
    },
    "pushed_requests": {"client_id": "applications"},
    "consents": {"user_id": "users", "client_id": "applications"},
    "device_requests": {"client_id": "applications"},
    "user_codes": {"device_id": "device_requests"},
    "authorizations": {
        "client_id": "applications",
        "client_org_id": "organizations",
        "user_id": "users",
        "org_id": "organizations",
    },
}
# Absent for managers of the instance, requests without a page yet, and mails to no user.
NEED_NOT_NAME = {
    "memberships.org_id",
    "auth_requests.device_id",
    "outbox.user_id",
}


async def hold(store, *, secrets: Iterable[str] = ()) -> None:
    """Asserts every invariant. None of the issued `secrets` may be stored."""
    waiting = {one.id: one async for one in store.scan(DEFERRED_WORK)}  # some end during the look
    found = await everything(store)
    found["leftovers"] = waiting | found["leftovers"]
    if not found["instance"]:
        assert not any(found.values()), "half of a set-up"
        return
    check_parents(found)
    check_organizations(found)
    check_users(found)
    check_roles(found)
    check_grants(found)
    check_codes(found)
    check_families(found)
    check_stamps(found)
    check_keys(found)
    check_no_secrets(found, secrets)
    await events_agree(store)
    schema = await store.get(META, "schema")
    assert schema.oldest_reader <= SCHEMA.version <= schema.version
    assert not found["project_grants"] or schema.oldest_reader >= project_grants.READABLE_SINCE


def check_parents(found) -> None:
    """Checks that every record belongs to records that exist or were deleted: units are
    complete."""
    gone = {
        (event.collection, event.record_id)
        for event in found["events"].values()
        if event.type.endswith(".deleted")
    }
    for name, fields in PARENTS.items():
        for record in found[name].values():
            for field, parent in fields.items():
                id = getattr(record, field)
                place = f"{name}.{field}"
                is_there = (
                    id in found[parent] or (parent, id) in gone or _stands_alone(record, field)
                )
                is_fine = place in NEED_NOT_NAME if id is None else is_there
                assert is_fine, f"{place} names nobody"


def _stands_alone(record, field) -> bool:
    """Whether it is a sign-in to pages of the service, without an application; or a password reset
    for an account that does not exist, which must not be revealed."""
    if field == "client_id":
        return getattr(record, "is_for_own_page", False)
    return field == "user_id" and not record.user_id and getattr(record, "proves", "") == "reset"


def check_organizations(found) -> None:
    """Checks that each has a name and a verified domain of its own, and an existing owner."""
    names = Counter(one.name_key for one in found["organizations"].values())
    domains = Counter(one.primary_domain for one in found["organizations"].values())
    verified = {
        (one.org_id, one.domain)
        for one in found["organization_domains"].values()
        if one.is_verified
    }
    owned = {
        one.org_id
        for one in found["memberships"].values()
        if "ORG_OWNER" in one.roles and one.user_id in found["users"]
    }

    assert all(domains)
    assert set(domains.values()) == {1}
    assert set(names.values()) == {1}
    assert {(one.id, one.primary_domain) for one in found["organizations"].values()} <= verified
    assert set(found["organizations"]) <= owned
    assert found["instance"][INSTANCE_ID].org_id in found["organizations"]


def check_users(found) -> None:
    """Checks that login names are normalized and unique, and that hashes can be read."""
    people = found["users"].values()

    assert len({one.login_key for one in people}) == len(people)
    for one in people:
        assert one.login_key == user_lookup.login_key(one.user_name)
        assert one.password is None or schemes.read(one.password.hash)
        assert one.email_key in (None, user_lookup.email_key(one.email, one.org_id))
        assert one.address_key == (one.email and user_lookup.login_key(one.email.address))
        assert one.display_key == user_lookup.login_key(one.profile.display_name)
        family_name = one.profile.family_name
        assert one.family_key == (user_lookup.login_key(family_name) if family_name else None)


def check_roles(found) -> None:
    """Checks that no user has a role that the project does not have."""
    known = {(one.project_id, one.key) for one in found["project_roles"].values()}
    for one in found["role_assignments"].values():
        assert {(one.project_id, key) for key in one.role_keys} <= known
        assert one.role_keys


def check_codes(found) -> None:
    """Checks that the result of a code is in the code's own record, only after it was redeemed."""
    for one in found["authorizations"].values():
        made = one.grant in ("exchange", "device")  # with an event of its own
        assert one.sequence == made + (one.revoked_at is not None), "revoked at most once"
        if one.code is not None:
            assert one.refresh is None or one.code.redeemed_at is not None
            assert len(one.code.hash) == HASH_LENGTH


def check_families(found) -> None:
    """Checks that a family has one usable refresh token, and that no two families share one."""
    refreshes = [one.refresh for one in found["authorizations"].values() if one.refresh]
    hashes = [text for one in refreshes for text in (one.family_hash, one.current_hash)]
    hashes += [one.previous_hash for one in refreshes if one.previous_hash is not None]

    assert len(set(hashes)) == len(hashes)
    assert all(len(text) == HASH_LENGTH for text in hashes)


def check_stamps(found) -> None:
    """Checks that no valid session or authorization belongs to a user or client that is not
    active. Records of deleted users (`check_parents`) are not valid."""
    instance = found["instance"][INSTANCE_ID]
    for one in [*found["sessions"].values(), *found["authorizations"].values()]:
        if names_the_dead(found, one):
            continue
        user, org = found["users"][one.user_id], found["organizations"][one.org_id]
        states = [user.state, org.state]
        if hasattr(one, "client_id"):
            client = found["applications"][one.client_id]
            owner = found["organizations"][one.client_org_id]
            now = security_stamps.of(instance, org, user, owner, client)
            states += [client.state, owner.state]
            is_over = one.revoked_at is not None
            session = found["sessions"].get(one.session_id)
            assert session is None or session.user_id == one.user_id
        else:
            now, is_over = (
                security_stamps.of_session(instance, org, user),
                one.ended_at is not None,
            )
        assert is_over or one.stamps != now or set(states) == {"active"}


def names_the_dead(found, one) -> bool:
    named = [("users", one.user_id), ("organizations", one.org_id)]
    if hasattr(one, "client_id"):
        named += [("applications", one.client_id), ("organizations", one.client_org_id)]
    return any(id not in found[collection] for collection, id in named)


def check_keys(found) -> None:
    """Checks that each algorithm has one active key, and that no two keys have the same id or
    value."""
    keys = found["signing_keys"].values()
    active = Counter(one.algorithm for one in keys if one.state == "active")
    public = [msgspec.json.decode(one.public) for one in keys if one.public is not None]

    assert active == dict.fromkeys({one.algorithm for one in keys}, 1)
    assert [key["kid"] for key in public] == [one.id for one in keys if one.public is not None]
    assert len({key.get("n") or key["x"] for key in public}) == len(public)
    assert not [key for key in public if PRIVATE_PARTS & set(key)]


def check_no_secrets(found, secrets: Iterable[str]) -> None:
    text = msgspec.json.encode([list(records.values()) for records in found.values()]).decode()

    assert not [secret for secret in parts(secrets) if secret in text], "stored in the clear"


def parts(handed_out: Iterable[str]) -> set[str]:
    """The texts that must not be stored: of a credential, everything after its id."""
    secrets = set()
    for one in handed_out:
        split = opaque_tokens.split(one) or opaque_tokens.split(one, 2)
        secrets |= set(split[1:]) if split else {one}
    return secrets


def files_are_whole(url: str, *, secrets: Iterable[str] = ()) -> None:
    """Asserts that the database reports no damage, and that its files contain no secret."""
    scheme, _, rest = url.partition("://")
    if scheme == "sqlite":
        _sqlite_is_whole(Path(rest[1:]), parts(secrets))
    else:
        _mongodb_is_whole(url)


def _sqlite_is_whole(path: Path, secrets: set[str]) -> None:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
    data = b"".join(one.read_bytes() for one in path.parent.glob(f"{path.name}*"))
    assert not [secret for secret in secrets if secret.encode() in data]


def _mongodb_is_whole(url: str) -> None:
    with closing(connected(url)) as client:
        database = client.get_default_database()
        for name in database.list_collection_names():
            assert database.command("validate", name)["valid"], name
