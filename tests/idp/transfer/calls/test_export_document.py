"""Exports: one document of one state of the store, which an import takes."""

from __future__ import annotations

import asyncio
import io
import json

import pytest

from idp.foundation.errors import DeadlineExceeded, NotFound
from idp.identity.factors import recovery_codes
from idp.records import (
    APP_KEYS,
    EVENTS,
    ORGANIZATIONS,
    PASSKEYS,
    PATS,
    POLICIES,
    RECOVERY_CODES,
    SIGNING_KEYS,
    USER_KEYS,
    USERS,
    LockoutRules,
    Passkey,
    Policy,
)
from idp.transfer.calls import export_document
from idp.transfer.calls.export_document import ExportSelection
from storage import Insert
from tests.idp.transfer.kinds.test_policies import FOREIGN
from tests.idp.transfer.kinds.test_texts import PAGES, RESET, encoded
from tests.support import patience, pictures
from tests.support.management.callers import new_caller, new_organization
from tests.support.service import start_server, stop_server
from tests.support.store.audit import events_agree
from tests.support.transfer.bringing import brought
from tests.support.transfer.bringing_people import MEMBER, WHOLE, bring

# Specification 4.11: what an export never holds.
EXCLUDED = {"machineKeys", "appKeys", "pats", "personalAccessTokens", "passkeys", "recoveryCodes"}
HASH = "$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy"


def organization(id: str) -> dict:
    """Everything that an organization can have."""
    return {
        "orgId": id,
        "org": {"name": f"Org {id}", "primaryDomain": f"{id}.example"},
        "domains": [{"domainName": f"b.{id}.example", "isVerified": True}],
        **FOREIGN,
        "pictures": [{"place": "logo", "content": encoded(pictures.encoded("JPEG"))}],
        "loginTexts": [PAGES],
        "passwordResetMessages": [RESET],
        "humanUsers": [
            {
                "userId": f"ada|{id}",
                "user": {
                    "userName": f"ada-{id}",
                    "profile": {"firstName": "Ada", "lastName": "Lovelace"},
                    "email": {"email": f"ada@{id}.example", "isEmailVerified": True},
                    "hashedPassword": {"value": HASH},
                    "otpCode": "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
                },
            }
        ],
    }


async def exported(server, seconds=60.0, **wanted) -> dict:
    target = io.BytesIO()
    await export_document.write(
        server.service, "somebody", ExportSelection(**wanted), target, seconds, "inline"
    )
    return json.loads(target.getvalue())


async def whole(server, *ids) -> list[dict]:
    document = await exported(server, org_ids=list(ids), with_passwords=True, with_otp=True)
    return document["orgs"]


@pytest.mark.promise("export: custom policies")
async def test_what_was_exported_is_imported_and_exported_the_same(server, other):
    assert {each.action for each in await brought(server, organization("a"), organization("b"))}
    first = await whole(server, "a", "b")

    outcomes = await brought(other, *first)

    assert not [each for each in outcomes if each.action == "fail" or each.problems]
    assert json.dumps(await whole(other, "a", "b")) == json.dumps(first)
    await events_agree(other.store)


@pytest.fixture
def other(io_loop, server):
    """Another installation."""
    made, http = io_loop.run_sync(lambda: start_server(server.clock))
    yield made
    io_loop.run_sync(lambda: stop_server(made, http))


@pytest.mark.promise("export: with_passwords, with_otp")
async def test_passwords_and_codes_are_exported_only_on_request(server):
    await brought(server, organization("a"))

    bare = json.dumps(await exported(server))
    assert HASH not in bare
    assert "JBSWY3DPEHPK3PXP" not in bare
    assert HASH in json.dumps(await exported(server, with_passwords=True))
    assert "JBSWY3DPEHPK3PXP" in json.dumps(await exported(server, with_otp=True))
    assert "JBSWY3DPEHPK3PXP" not in json.dumps(await exported(server, with_passwords=True))


@pytest.mark.promise("export: not included")
async def test_what_an_export_never_holds_is_not_there(server, visitor):
    assert {each.action for each in await bring(server, **WHOLE)} == {"create"}
    home = await server.store.get(ORGANIZATIONS, "acme")
    manager = await new_caller(server, visitor, home, "IAM_OWNER", everywhere=True)
    codes = await _with_passkey_and_codes(server, "auth0|1")
    lockout = Policy(
        id="everywhere",
        kind="lockout",
        rules=LockoutRules(max_otp_attempts=7),
        created_at=server.clock.now(),
        changed_at=server.clock.now(),
    )
    await server.store.commit(Insert(POLICIES, lockout))
    hidden = [each.secret_hash async for each in server.store.scan(PATS)]
    hidden += [each.sealed_private async for each in server.store.scan(SIGNING_KEYS)]
    hidden += [each.public async for each in server.store.scan(APP_KEYS)]
    hidden += [each.public async for each in server.store.scan(USER_KEYS)]
    hidden += [each.id async for each in server.store.scan(RECOVERY_CODES)]

    (told,) = await whole(server, "acme")

    assert not EXCLUDED & set(told)
    assert "lockoutPolicy" not in told
    assert told["orgMembers"] == [MEMBER]
    text = json.dumps(told)
    hidden += [*codes, manager.token, "IAM_OWNER", "credential-1"]
    assert not [each for each in hidden if each in text]


async def _with_passkey_and_codes(server, user_id):
    """The recovery codes of somebody who has a passkey too."""
    service, now = server.service, server.clock.now()
    made = await recovery_codes.make(service, await server.store.get(USERS, user_id), now)
    passkey = Passkey(
        id="credential-1",
        user_id=user_id,
        credential_id="credential-1",
        public_key="",
        name="Phone",
        created_at=now,
        changed_at=now,
    )
    await server.store.commit(*made.writes, Insert(PASSKEYS, passkey))
    return made.codes


@pytest.mark.promise("export: org_ids", "export: excluded_org_ids")
async def test_the_named_organizations_are_exported_and_nothing_of_others(server):
    await brought(server, organization("a"), organization("b"), organization("c"))

    assert [each["orgId"] for each in await whole(server, "b", "a", "b")] == ["a", "b"]
    assert "c.example" not in json.dumps(await whole(server, "a", "b"))
    left = await exported(server, excluded_org_ids=["a", "c"])
    ids = [each["orgId"] for each in left["orgs"]]
    assert "b" in ids
    assert not {"a", "c", None} & set(ids)
    left = await exported(server, org_ids=["a", "b"], excluded_org_ids=["b"])
    assert [each["orgId"] for each in left["orgs"]] == ["a"]


@pytest.mark.promise("export: org_ids")
async def test_an_organization_that_is_not_there_is_named(server):
    with pytest.raises(NotFound) as refused:
        await exported(server, org_ids=["nobody"])

    (problem,) = refused.value.details
    assert (problem.error_code, problem.field) == ("organization.not_found", "orgIds[0]")


async def test_an_organization_that_is_excluded_by_a_wrong_id_is_not_exported_by_mistake(server):
    await brought(server, organization("a"))
    with pytest.raises(NotFound) as refused:
        await exported(server, excluded_org_ids=["a", "nobody"])

    (problem,) = refused.value.details
    assert (problem.error_code, problem.field) == ("organization.not_found", "excludedOrgIds[1]")


async def test_what_was_requested_and_answered_is_recorded(server):
    await brought(server, organization("a"))
    await exported(server, org_ids=["a"], with_passwords=True)

    events = [each async for each in server.store.scan(EVENTS) if each.type == "export.made"]
    (payload,) = [dict(each.payload) for each in events]
    assert payload["organizations"] == "a"
    assert (payload["with_passwords"], payload["with_otp"]) == ("true", "false")
    assert (payload["orgs"], payload["humanUsers"]) == ("1", "1")
    assert payload["destination"] == "inline"
    await events_agree(server.store)


@pytest.mark.promise("export: timeout")
async def test_one_that_takes_too_long_ends_in_a_refusal(server):
    with pytest.raises(DeadlineExceeded):
        await exported(server, seconds=0.0)


async def test_what_is_written_meanwhile_is_not_in_it(server, monkeypatch):
    await brought(server, organization("a"))
    monkeypatch.setattr(export_document, "_BUFFER_BYTES", 10)
    loop, writes = asyncio.get_running_loop(), []

    class Watched(io.BytesIO):
        def write(self, octets):
            if not writes:
                made = new_organization(server, "late.example")
                writes.append(
                    asyncio.run_coroutine_threadsafe(made, loop).result(patience.SECONDS)
                )
            return super().write(octets)

    target = Watched()
    await export_document.write(server.service, "me", ExportSelection(), target, 60, "inline")

    assert writes
    assert b"late.example" not in target.getvalue()
    assert len(json.loads(target.getvalue())["orgs"]) == len((await exported(server))["orgs"]) - 1
