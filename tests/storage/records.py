"""The records that the contract suite keeps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from msgspec import Struct

from storage import Collection, Record

START = datetime(2026, 1, 2, 3, 4, 5, 678000, UTC)


class Profile(Struct):
    name: str
    nick: str | None = None
    seen_at: datetime | None = None


class User(Record):
    login_key: str
    org_id: str = "org"
    family: str = ""
    created_at: datetime = START
    n: int = 0
    is_active: bool = True
    note: str | None = None
    profile: Profile | None = None
    tags: list[str] = []


class OlderUser(Record):
    """What a program knew of a user before fields were added."""

    login_key: str
    n: int = 0
    profile: OlderProfile | None = None


class OlderProfile(Struct):
    name: str


class Ticket(Record):
    expires_at: datetime
    owner: str = "me"
    state: str = "new"


class Entry(Record):
    text: str = ""


USERS = Collection(
    "users",
    User,
    unique=("login_key",),
    lists=(
        ("org_id", "created_at"),
        ("org_id", "login_key"),
        ("org_id", "is_active", "n"),
        ("family",),
    ),
    narrowed=(("org_id", "family"),),
)
# As it would be declared if each of its lists had an index of its own.
INDEXED = Collection("users", User, unique=USERS.unique, lists=USERS.lists + USERS.narrowed)
OLDER_USERS = Collection("users", OlderUser)
TICKETS = Collection("tickets", Ticket, lists=(("owner", "expires_at"),), expires=True)
# Of strangers: what has expired is soon removed.
VISITS = Collection("visits", Ticket, expires=True, retention=timedelta(minutes=10))
OLDER_VISITS = Collection("visits", Ticket, expires=True)
ENTRIES = Collection("entries", Entry)
ALL = (USERS, TICKETS, ENTRIES)


def user(id: str, **fields) -> User:
    return User(id=id, **{"login_key": f"{id}@example.com", **fields})


def later(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)
