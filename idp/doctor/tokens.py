"""Checks of personal access tokens and registered keys that never expire, or are not used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Final

from idp.doctor import commands
from idp.doctor.check import DoctorCheck, Finding, Installation
from idp.doctor.records import Matches, search_batches
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

    async def select(records: Sequence[Any]) -> Sequence[Any]:
        return [each for each in records if each.expires_at >= LASTS_UNTIL]

    return await _finding(installation, select, "have no expiry")


async def unused(installation: Installation) -> Finding:
    """Reports personal access tokens and registered keys that are older than 90 days and were not
    used in the last 90 days.
    """
    before = installation.clock.now() - _UNUSED_FOR

    async def select(records: Sequence[Any]) -> Sequence[Any]:
        # A newer one may not have been used yet.
        old = [each for each in records if each.created_at < before]
        uses = await installation.opened.get_many([(LAST_USES, each.id) for each in old])
        pairs = zip(old, uses, strict=True)
        return [each for each, use in pairs if use is None or use.at < before]

    return await _finding(installation, select, "were not used in the last 90 days")


async def _finding(
    installation: Installation, select: Callable[..., Any], problem: str
) -> Finding:
    matches: Matches[Any] = Matches()
    all_names_and_commands: list[tuple[str, str]] = []
    for collection, owners in ((PATS, USERS), (USER_KEYS, USERS), (APP_KEYS, APPLICATIONS)):
        collection_matches: Matches[Any] = await search_batches(installation, collection, select)
        all_names_and_commands += await _names_and_commands(
            installation, collection_matches.named, owners
        )
        matches = matches.merged(collection_matches)
    first_names_and_commands = all_names_and_commands[: len(matches.named)]
    lines = [command for _, command in first_names_and_commands if command]
    return matches.finding(_NOUNS, problem, [name for name, _ in first_names_and_commands], lines)


async def _names_and_commands(
    installation: Installation, records: Sequence[Record], owners: Any
) -> list[tuple[str, str]]:
    """Returns the name of each record and the command that removes it."""
    owner_ids = [
        str(getattr(each, "user_id", None) or getattr(each, "owner_id", "")) for each in records
    ]
    keys: list[tuple[Any, str]] = [(owners, owner_id) for owner_id in owner_ids]
    owner_records = await installation.opened.get_many(keys)
    return [_name_and_command(*pair) for pair in zip(records, owner_records, strict=True)]


def _name_and_command(record: Any, owner: Any) -> tuple[str, str]:
    owner_name = getattr(owner, "user_name", None) or getattr(owner, "name", "?")
    if isinstance(record, PersonalAccessToken):
        return f"{owner_name}: {record.id}", commands.revoke(record)
    return f"{owner_name}: {record.id}", commands.remove_key(record, owner)


CHECKS: Final = (
    DoctorCheck(
        id="tokens.endless",
        area="safety",
        about=message("Every token and key expires.", context="safety"),
        fix=message("Replace each with one that expires.", context="safety"),
        run=endless,
        needs="records",
    ),
    DoctorCheck(
        id="tokens.unused",
        area="safety",
        about=message("Every token and key was used in the last 90 days.", context="safety"),
        fix=message("Remove those that are no longer needed.", context="safety"),
        run=unused,
        needs="records",
    ),
)
