"""The console's search among users, by words that someone typed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from idp.foundation import phones
from idp.foundation.texts.text_folding import folded
from idp.management import search as management_search
from idp.management.call import Call
from idp.management.search import FoundPage, PageQuery
from idp.management.users import read as user_read
from idp.management.users.read import UserAnswer
from idp.management.users.search import TEXTS, organizations_of
from idp.records import USERS, User
from idp.records.upgrades import FAMILY_KEYS, FAMILY_KEYS_AGAIN
from idp.search.query_planner import Filter
from idp.service import Service
from storage import META, SCHEMA_ID

MAX_CANDIDATES: Final = 500
_NAMES: Final = ("display_name", "last_name")
_LISTED: Final = (*_NAMES, "user_name", "email_address")


class NameMatches(Struct, frozen=True):
    """The users that match the words. `is_partial`: more users have the first word than were
    compared with the others."""

    users: Sequence[UserAnswer]
    is_partial: bool = False


async def matches(service: Service, call: Call, text: str) -> NameMatches:
    """Returns users of the organizations that the caller may read, who have this phone number, a
    display or family name that begins with the text, or any name or address that begins with its
    first word.

    Each other word must be the beginning of a word in their names or address. Only the first
    MAX_CANDIDATES users with the first word are compared. The text has at least one word.
    """
    first, *others = text.split()
    whole = [*_of_phone(text)]
    if others:
        whole += _beginning(" ".join([first, *others]), _NAMES)
    lists = [*whole, *_beginning(first, _LISTED)]
    pages = await asyncio.gather(*(_first_page(service, call, each) for each in lists))
    words = [folded(word) for word in others]
    found = {
        user.id: user
        for n, page in enumerate(pages)
        for user in page.records
        if n < len(whole) or _has_words(user, words)
    }
    organizations = await organizations_of(service, list(found.values()))
    return NameMatches(
        [
            user_read.answer(organizations[user.org_id], user)
            for user in found.values()
            if user.org_id in organizations
        ],
        is_partial=bool(words) and any(page.next_cursor for page in pages[len(whole) :]),
    )


def _of_phone(text: str) -> Iterator[Filter]:
    try:
        yield Filter(path="phone.number", value=phones.e164(text))
    except ValueError:
        return


def _beginning(text: str, names: Sequence[str]) -> list[Filter]:
    return [
        Filter(path=path, value=text, how="starts", is_text=True, folds=True, key=key)
        for path, key in map(TEXTS.__getitem__, names)
    ]


async def _first_page(service: Service, call: Call, condition: Filter) -> FoundPage[User]:
    return await management_search.find(
        service,
        USERS,
        PageQuery(limit=MAX_CANDIDATES // len(_LISTED)),
        [condition],
        organizations=management_search.reachable_organizations(call),
        is_counted=False,
    )


def _has_words(user: User, words: Sequence[str]) -> bool:
    profile = user.profile
    names = [profile.display_name, profile.given_name, profile.family_name, user.user_name]
    if user.email:
        names.append(user.email.address)
    parts = [part for name in names if name for part in folded(name).split()]
    return all(any(part.startswith(word) for part in parts) for word in words)


async def finds_every_family_name(service: Service) -> bool:
    """Returns whether the upgrade that makes family names searchable is complete: until then some
    users are found by their other names only."""
    record = await service.store.get(META, SCHEMA_ID)
    return record is not None and {FAMILY_KEYS, FAMILY_KEYS_AGAIN} <= set(record.done)
