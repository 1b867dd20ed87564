"""Checks of personal access tokens and registered keys that never expire, or are not used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Final

from idp.doctor import commands
from idp.doctor.check import DoctorCheck, Finding, Installation
from idp.doctor.records import Matches, chosen_by
from idp.foundation.i18n import message
from idp.foundation.opaque_tokens import LASTS_UNTIL
from idp.records import (
    APP_KEYS,
    APPLICATIONS,
    LAST_USES,
    PATS,
    USER_KEYS,
    USERS,
    PersonalAccessToken,
)
from storage import Record

_UNUSED_FOR: Final = timedelta(days=90)
_NOUNS: Final = "tokens and keys"


async def endless(installation: Installation) -> Finding:
    """Reports personal access tokens and registered keys that never expire."""

    async def chosen(records: Sequence[Any]) -> Sequence[Any]:
        return [each for each in records if each.expires_at >= LASTS_UNTIL]

    return await _finding(installation, chosen, "have no end")


async def unused(installation: Installation) -> Finding:
    """Reports personal access tokens and registered keys that are older than 90 days and were not
    used in the last 90 days.
    """
    before = installation.clock.now() - _UNUSED_FOR

    async def chosen(records: Sequence[Any]) -> Sequence[Any]:
        # A newer one may just not have been used yet.
        old = [each for each in records if each.created_at < before]
        uses = await installation.opened.get_many([(LAST_USES, each.id) for each in old])
        pairs = zip(old, uses, strict=True)
        return [each for each, use in pairs if use is None or use.at < before]

    return await _finding(installation, chosen, "were not used in the last 90 days")


async def _finding(
    installation: Installation, choose: Callable[..., Any], problem: str
) -> Finding:
    matches: Matches[Any] = Matches()
    commands_of: list[tuple[str, str]] = []
    for collection, owners in ((PATS, USERS), (USER_KEYS, USERS), (APP_KEYS, APPLICATIONS)):
        of_collection: Matches[Any] = await chosen_by(installation, collection, choose)
        commands_of += await _named(installation, of_collection.named, owners)
        matches = matches.joined(of_collection)
    some = commands_of[: len(matches.named)]
    lines = [command for _, command in some if command]
    return matches.finding(_NOUNS, problem, [name for name, _ in some], lines)


async def _named(
    installation: Installation, records: Sequence[Record], owners: Any
) -> list[tuple[str, str]]:
    """Returns the name of each record and the command that removes it."""
    owner_ids = [
        str(getattr(each, "user_id", None) or getattr(each, "owner_id", "")) for each in records
    ]
    keys: list[tuple[Any, str]] = [(owners, owner_id) for owner_id in owner_ids]
    owner_records = await installation.opened.get_many(keys)
    return [_described(*pair) for pair in zip(records, owner_records, strict=True)]


def _described(record: Any, owner: Any) -> tuple[str, str]:
    whose = getattr(owner, "user_name", None) or getattr(owner, "name", "?")
    if isinstance(record, PersonalAccessToken):
        return f"{whose}: {record.id}", commands.revoke(record)
    return f"{whose}: {record.id}", commands.remove_key(record, owner)


CHECKS: Final = (
    DoctorCheck(
        id="tokens.endless",
        area="safety",
        about=message("Every token and key has an end.", context="safety"),
        fix=message("Replace each by one that ends.", context="safety"),
        run=endless,
        needs="records",
    ),
    DoctorCheck(
        id="tokens.unused",
        area="safety",
        about=message("Every token and key was used in the last 90 days.", context="safety"),
        fix=message("Remove those that nobody needs.", context="safety"),
        run=unused,
        needs="records",
    ),
)
