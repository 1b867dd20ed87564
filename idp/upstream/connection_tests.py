"""Tests of connections: how they are started, found, used up, and what is stored of their result.

A test is a sign-in by a connection that ends before anything is written for it: no user, link or
session is changed, and the browser gets no cookie but that of the attempt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Struct

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.changes import Change
from idp.foundation import opaque_tokens
from idp.foundation.opaque_tokens import Confidential
from idp.keys.master_key import WrongKey
from idp.records import sealed_fields
from idp.records.connection_tests import CONNECTION_TESTS, ConnectionTest
from idp.records.connections import ProviderConnection
from idp.service import Service
from idp.upstream import identities
from idp.upstream.identities import EmailTrust
from idp.upstream.oidc.answers import StatedClaims
from storage import Update

PAGE: Final = "/ui/connection-test"
LIFETIME: Final = timedelta(minutes=15)
STORED_FOR: Final = timedelta(days=1)
MAX_CLAIMS: Final = 100
MAX_CHARACTERS: Final = 500  # of the value of a claim
_PURPOSE: Final = sealed_fields.CONNECTION_TEST_RESULT.purpose
# Hashes of tokens and the value that bound this sign-in say nothing of the person.
_LEFT_OUT: Final = ("nonce", "at_hash", "c_hash", "s_hash")
# Parts of the names of members that hold a token: distributed and aggregated claims (OpenID
# Connect Core 5.6.2) are reached by one.
_OF_TOKENS: Final = ("token", "jwt", "_claim_sources")
# A JWS or JWE begins with a JSON object in base64url.
_SIGNED: Final = re.compile(r"\s*eyJ[\w-]*(\.[\w-]*){2,4}\s*")

ClaimSource: TypeAlias = Literal["id_token", "userinfo"]
TestOutcome: TypeAlias = Literal["sign_in", "create", "ask", "refuse"]
TestState: TypeAlias = Literal["waiting", "running", "finished", "expired"]


class ReceivedClaim(Confidential, frozen=True):
    """A claim that the provider has stated: its value as JSON, cut off at MAX_CHARACTERS."""

    name: str
    value: str
    source: ClaimSource


class FoundValue(Confidential, frozen=True):
    """The value of a user's field, and the claim or JSON pointer that it comes from."""

    field: str
    value: str
    source: str


class NameProblem(Struct, frozen=True):
    """Why a user is not created without a page: the field, or an empty text for the whole, and an
    English sentence."""

    field: str
    text: str


class TestResult(Confidential, frozen=True):
    """What a sign-in would have done.

    `check` is the name of the check that failed, with its `details`; both are empty if none has.
    `outcome` is what would have followed: the linked user `user_id` is signed in (`sign_in`), a
    user is created in `org_id` (`create`), a page asks the person for an account (`ask`), which
    they may create or link, or the sign-in is refused (`refuse`).
    """

    check: str = ""
    details: str = ""
    claims: Sequence[ReceivedClaim] = ()
    values: Sequence[FoundValue] = ()
    authority: str = ""
    external_id: str = ""
    email_trust: EmailTrust | None = None
    outcome: TestOutcome = "refuse"
    user_id: str = ""
    org_id: str = ""
    may_create: bool = False
    may_link: bool = False
    problems: Sequence[NameProblem] = ()


def new(
    service: Service, connection: ProviderConnection, actor: str
) -> Change[tuple[ConnectionTest, str]]:
    """Returns the change that stores a new test of a connection, and answers with it and the
    address by which a browser begins it."""
    now, secret = service.clock.now(), service.random.token()
    test = ConnectionTest(
        id=service.random.id(),
        connection_id=connection.id,
        key_digest=opaque_tokens.digest(secret),
        created_by=actor,
        created_at=now,
        ends_at=now + LIFETIME,
        expires_at=now + STORED_FOR,
        org_id=connection.org_id,
    )
    entry = AuditEntry(
        "connection_test.created", actor, now, payload={"connection_id": connection.id}
    )
    url = f"{service.config.issuer}{PAGE}?key={test.id}{secret}"
    writes = events.insertion(service.random, CONNECTION_TESTS, test, entry)
    return Change((test, url), writes)


async def find(service: Service, key: str) -> ConnectionTest | None:
    """Returns the test that a key opens, whatever its state; None if there is none."""
    parts = opaque_tokens.split(key)
    test = await service.store.get(CONNECTION_TESTS, parts[0]) if parts else None
    if test is None or parts is None or not opaque_tokens.matches(parts[1], test.key_digest):
        return None
    return test


def is_of(test: ConnectionTest, connection: ProviderConnection) -> bool:
    """Returns whether a test is of this connection, and not of a deleted one that had its id."""
    is_same_owner = test.org_id == connection.org_id
    is_same_id = test.connection_id == connection.id
    return is_same_id and is_same_owner and connection.created_at <= test.created_at


def state_of(service: Service, test: ConnectionTest) -> TestState:
    """Returns the state of a test. One whose answer was never processed, because its process
    ended, expires with the others."""
    if test.sealed_result is not None:
        return "finished"
    if service.clock.now() >= test.ends_at:
        return "expired"
    return "waiting" if test.answered_at is None else "running"


async def use(service: Service, test: ConnectionTest) -> None:
    """Uses a test up, before the provider's answer is processed. Raises Stale if it is used up
    already."""
    await service.store.commit(
        Update(
            CONNECTION_TESTS,
            test.id,
            set={"answered_at": service.clock.now()},
            expect={"answered_at": None},
        )
    )


async def finish(service: Service, test: ConnectionTest, result: TestResult) -> None:
    """Stores the result of a test that is used up, with an event. Raises Stale if there is one."""
    entry = AuditEntry(
        "connection_test.finished",
        test.created_by,
        service.clock.now(),
        payload={
            "connection_id": test.connection_id,
            "outcome": result.outcome,
            **({"check": result.check} if result.check else {}),
        },
    )
    sealed = service.master_key.seal(msgspec.json.encode(result), _PURPOSE)
    changes = {"sealed_result": sealed}
    await service.store.commit(
        *events.update(service.random, CONNECTION_TESTS, test, changes, entry)
    )


def result_of(service: Service, test: ConnectionTest) -> TestResult | None:
    """Returns the result of a test; None if there is none, or none that this release can read."""
    if test.sealed_result is None:
        return None
    try:
        decrypted = service.master_key.open(test.sealed_result, _PURPOSE)
        return msgspec.json.decode(decrypted, type=TestResult)
    except (WrongKey, msgspec.MsgspecError):
        return None


def received(stated: StatedClaims) -> list[ReceivedClaim]:
    """Returns the claims that a provider has stated, each with its source. Tokens are left out."""
    sources: tuple[tuple[ClaimSource, Mapping[str, Any]], ...] = (
        ("id_token", stated.id_token),
        ("userinfo", stated.userinfo),
    )
    return [
        ReceivedClaim(name[:MAX_CHARACTERS], _excerpt(_without_tokens(value)), source)
        for source, claims in sources
        for name, value in claims.items()
        if name not in _LEFT_OUT and not _is_token(name, value)
    ][:MAX_CLAIMS]


def _is_token(name: str, value: object) -> bool:
    """Returns whether a member holds a token by its name, or is one by its form."""
    is_named_so = any(part in name.lower() for part in _OF_TOKENS)
    return is_named_so or (isinstance(value, str) and _SIGNED.fullmatch(value) is not None)


def _without_tokens(value: object) -> object:
    """Returns a JSON value without the members and items that are tokens, at any depth."""
    if isinstance(value, Mapping):
        return {
            name: _without_tokens(each)
            for name, each in value.items()
            if not _is_token(name, each)
        }
    if isinstance(value, list):
        return [_without_tokens(each) for each in value if not _is_token("", each)]
    return value


def _excerpt(value: object) -> str:
    return msgspec.json.encode(value).decode()[:MAX_CHARACTERS]


def found_values(connection: ProviderConnection, stated: StatedClaims) -> list[FoundValue]:
    """Returns the values that the mapping of a connection finds in the claims, but no tokens."""
    return [
        FoundValue(each.field, each.value, each.source)
        for each in identities.mapped_values(connection, stated.merged)
        if each.value and not _is_token(each.source, each.value)
    ]
