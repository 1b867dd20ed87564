"""The records that are measured: of the size and structure of those of a sign-in."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from msgspec import Struct, field

from storage import Collection, Insert, Record, Store

RECORDS: Final = 500
START: Final = datetime(2026, 1, 2, 3, 4, 5, 678000, UTC)
STAMP: Final = "c2VjdXJpdHkgc3RhbXA"


class Name(Struct):
    given: str
    family: str
    display: str


class Account(Record):
    login_key: str
    org_id: str = "org"
    created_at: datetime = START
    changed_at: datetime = START
    sequence: int = 0
    state: str = "active"
    stamp: str = STAMP
    locale: str | None = None
    name: Name | None = None


class Visit(Record):
    account_id: str
    agent_id: str
    began_at: datetime = START
    ended_at: datetime | None = None
    stamp: str = STAMP
    methods: list[str] = field(default_factory=lambda: ["pwd"])


class Grant(Record):
    account_id: str
    visit_id: str
    scopes: list[str] = field(default_factory=lambda: ["openid", "profile", "email"])
    revoked_at: datetime | None = None
    stamp: str = STAMP


class Happening(Record):
    aggregate: str
    kind: str = "account.changed"
    at: datetime = START


ACCOUNTS: Final = Collection("accounts", Account, unique=("login_key",))
VISITS: Final = Collection("visits", Visit, lists=(("account_id", "began_at"),))
GRANTS: Final = Collection("grants", Grant)
HAPPENINGS: Final = Collection("happenings", Happening, lists=(("aggregate", "at"),))
ALL: Final[Sequence[Collection[Any]]] = (ACCOUNTS, VISITS, GRANTS, HAPPENINGS)

IDS: Final = [f"{n:04d}-7Yx0Cq2mRkWv5tB9s" for n in range(RECORDS)]


def account(account_id: str) -> Account:
    name = Name("Ann", "Example", "Ann Example")
    return Account(id=account_id, login_key=f"{account_id}@example.com", name=name)


def account_document(account_id: str) -> dict[str, Any]:
    """Returns the same account in the form for a raw driver."""
    return {
        "_id": account_id,
        "login_key": f"{account_id}@example.com",
        "org_id": "org",
        "created_at": START,
        "changed_at": START,
        "sequence": 0,
        "state": "active",
        "stamp": STAMP,
        "name": {"given": "Ann", "family": "Example", "display": "Ann Example"},
    }


def id_of(number: int) -> str:
    """Returns the id for a number: neighbouring numbers are different records, and so are those of
    concurrent calls."""
    return IDS[number % RECORDS]


async def fill(store: Store) -> None:
    """Stores every account, each with a visit and a grant."""
    records = [
        (
            Insert(ACCOUNTS, account(record_id)),
            Insert(VISITS, Visit(id=record_id, account_id=record_id, agent_id=record_id)),
            Insert(GRANTS, Grant(id=record_id, account_id=record_id, visit_id=record_id)),
        )
        for record_id in IDS
    ]
    refused = [outcome for outcome in await store.commit_each(records) if outcome is not None]
    if refused:
        raise refused[0]
