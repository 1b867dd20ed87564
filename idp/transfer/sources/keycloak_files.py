"""The files of a realm export: a single one, or a directory with 50 users per file."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from idp.transfer.package.rows import RowProblem
from idp.transfer.sources import source
from idp.transfer.sources.json_text_reader import BrokenValue, JsonTextReader
from idp.transfer.sources.source import SourceRecord, SourceRefused

_USERS_FILE: Final = re.compile(r"(.+)-users-([0-9]{1,9})\.json")
_REALM_FILE: Final = re.compile(r"(.+)-realm\.json")
_OTHER_FILE: Final = re.compile(r".+-federated-users-[0-9]{1,9}\.json")


class RealmSettings(Struct, frozen=True):
    """A member of a realm's file other than the list of users, which is not written to the
    package.
    """

    name: str
    value: object


def files(path: Path, realm: str | None) -> list[Path]:
    """Returns the files of a realm that may hold users, in order.

    Raises SourceRefused if there is no such realm, or if there are several and none is named.
    """
    if not path.is_dir():
        return [path]
    names = sorted(each.name for each in path.iterdir())
    matches = [match for name in names if (match := _USERS_FILE.fullmatch(name))]
    # The pattern of users' files also matches those of federated users.
    matches = [match for match in matches if not _OTHER_FILE.fullmatch(match[0])]
    full_exports = [match for name in names if (match := _REALM_FILE.fullmatch(name))]
    realms = sorted({match[1] for match in [*matches, *full_exports]})
    if not realms:
        raise SourceRefused(f"{path} has neither NAME-realm.json nor NAME-users-0.json")
    if realm is None and len(realms) > 1:
        raise SourceRefused(
            f"{path} has several realms: choose one with --realm-name {' or '.join(realms)}"
        )
    requested = realm or realms[0]
    if requested not in realms:
        raise SourceRefused(f"{path} has no realm {requested}: there are {', '.join(realms)}")
    parts = sorted((m for m in matches if m[1] == requested), key=lambda match: int(match[2]))
    # The realm's own file, then the users' files by number.
    return [path / match[0] for match in [*(m for m in full_exports if m[1] == requested), *parts]]


def federated(path: Path) -> list[Path]:
    """Returns the files in a directory that hold data about users of other stores, such as
    LDAP.
    """
    if not path.is_dir():
        return []
    return sorted(each for each in path.iterdir() if _OTHER_FILE.fullmatch(each.name))


def contents(path: Path, first: int, *, is_all: bool) -> Iterator[SourceRecord | RealmSettings]:
    """Yields the users of a realm's file as records numbered from `first`, and its other members.

    Without `is_all`, the file is one of several and may hold no users. Raises SourceRefused if the
    file is no realm export.
    """
    with source.open_file(path) as file:
        text = JsonTextReader(file)
        if text.peek() == "[":
            raise SourceRefused(
                f"{path} contains a list of realms: export a single one (--realm NAME)"
            )
        if not text.consume_if_next("{"):
            raise SourceRefused(f"{path} is not a realm export: it is not a JSON object")
        was_there = yield from _members(text, path, first)
        if is_all and not was_there:
            raise SourceRefused(
                f"{path} is not a realm export with users: it has no list of users"
            )


def _members(
    text: JsonTextReader, path: Path, first: int
) -> Generator[SourceRecord | RealmSettings, None, bool]:
    row, was_there = first, False
    while not text.consume_if_next("}"):
        if text.consume_if_next(","):
            continue
        try:
            name = text.value() if text.peek() == '"' else ""
            if not (isinstance(name, str) and name and text.consume_if_next(":")):
                raise BrokenValue(_NO_MEMBER, is_unparsed=True)
            if name == "users" and text.consume_if_next("["):
                was_there = True
                for source_record in source.elements(text, path.name, row):
                    row = source_record.row + 1
                    yield source_record
            else:
                yield RealmSettings(name, text.value())
        except BrokenValue as broken:
            if not was_there:
                message = "; ".join(each.message for each in broken.problems)
                raise SourceRefused(
                    f"{path} is not a realm export: line {text.line} {message}"
                ) from None
            yield SourceRecord(row=row, path=f"{path.name}:{text.line}", problems=broken.problems)
            return True
    _check_end(text, path)
    return was_there


def _check_end(text: JsonTextReader, path: Path) -> None:
    if text.peek():
        raise SourceRefused(f"{path} is not a realm export: line {text.line} is after its end")


_NO_MEMBER: Final = RowProblem(
    error_code="source.unreadable",
    message="is not JSON: the object ends in the middle",
    fix="Export the file again.",
)
