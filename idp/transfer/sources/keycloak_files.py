"""The files of a realm export: a single one with one realm or a list of several, or a directory
whose files have 50 users each."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from idp.transfer.package.rows import RowProblem
from idp.transfer.sources import source
from idp.transfer.sources.json_text_reader import BrokenValue, JsonTextReader
from idp.transfer.sources.source import SourceRecord, SourceRefused

_USERS_FILE: Final = re.compile(r"(.+?)-users(?:-([0-9]{1,9}))?\.json")
_REALM_FILE: Final = re.compile(r"(.+)-realm\.json")
_OTHER_FILE: Final = re.compile(r".+-federated-users(-[0-9]{1,9})?\.json")


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
    requested = _chosen(path, realm, realms)
    parts = sorted((m for m in matches if m[1] == requested), key=lambda match: int(match[2] or 0))
    # The realm's own file, then the users' files by number.
    return [path / match[0] for match in [*(m for m in full_exports if m[1] == requested), *parts]]


def _chosen(path: Path, realm: str | None, realms: list[str]) -> str:
    """Returns the realm to read, of all that there are at `path`. Raises SourceRefused."""
    if realm is None and len(realms) > 1:
        names = " or ".join(realms)
        raise SourceRefused(f"{path} has several realms: choose one with --realm-name {names}")
    requested = realms[0] if realm is None else realm
    if requested not in realms:
        raise SourceRefused(
            f"{path} has no realm {requested}: choose with --realm-name {' or '.join(realms)}"
        )
    return requested


def federated(path: Path) -> list[Path]:
    """Returns the files in a directory that hold data about users of other stores, such as
    LDAP.
    """
    if not path.is_dir():
        return []
    return sorted(each for each in path.iterdir() if _OTHER_FILE.fullmatch(each.name))


def contents(
    path: Path, first: int, realm: str | None, *, is_all: bool
) -> Iterator[SourceRecord | RealmSettings]:
    """Yields the users of a realm's file as records numbered from `first`, and its other members.

    `realm` is the realm to read, None if there is only one. Without `is_all`, the file is one of
    several, all of that realm, and may hold no users. Raises SourceRefused if the file is no realm
    export.
    """
    index = _index(path, realm) if is_all else 0
    with source.open_file(path) as file:
        text = JsonTextReader(file)
        is_list = text.consume_if_next("[")
        if index is None:
            yield from source.elements(text, path.name, first)
            return
        for _ in range(index):
            text.consume_if_next("{")
            deque(_members(text, path, first), maxlen=0)
            text.consume_if_next(",")
        if not text.consume_if_next("{"):
            raise SourceRefused(_without_object(text, path))
        was_there = yield from _members(text, path, first, is_last=not is_list)
        if is_all and not was_there:
            raise SourceRefused(_without_users(path))


def _without_object(text: JsonTextReader, path: Path) -> str:
    if not text.peek():
        return f"{path} is empty: export it again"
    return f"{path} is not a realm export: it is not a JSON object"


def _without_users(path: Path) -> str:
    text = f"{path} is not a realm export with users: it has no list of users"
    if _REALM_FILE.fullmatch(path.name):
        return f"{text}. If they are in files beside it, name the folder: --realm {path.parent}"
    return f"{text}. Export the realm by kc.sh export, for a partial export has none"


def _index(path: Path, realm: str | None) -> int | None:
    """Returns which of the objects in the file at `path` is the realm to read; None if the file is
    a list of users without a realm. Raises SourceRefused."""
    with source.open_file(path) as file:
        text = JsonTextReader(file)
        is_list = text.consume_if_next("[")
        if not is_list and realm is None:
            return 0
        names = list(_names(text, path))
    if not names:
        raise SourceRefused(f"{path} is not a realm export: it has no realm")
    if names[0] is None:
        if realm is not None:
            raise SourceRefused(f"{path} names no realm: leave out --realm-name")
        return None
    realms = [name or "" for name in names]
    return realms.index(_chosen(path, realm, realms))


def _names(text: JsonTextReader, path: Path) -> Iterator[str | None]:
    """Yields the name of each realm that the text has next, and None instead if it has users."""
    while text.consume_if_next("{"):
        name, is_user = "", False
        for each in _members(text, path, 1):
            if isinstance(each, RealmSettings):
                name = str(each.value) if each.name == "realm" else name
                is_user = is_user or each.name == "username"
        yield None if is_user else name
        if is_user:
            return
        text.consume_if_next(",")


def _members(
    text: JsonTextReader, path: Path, first: int, *, is_last: bool = False
) -> Generator[SourceRecord | RealmSettings, None, bool]:
    """Yields the members of an object whose opening bracket is consumed, and returns whether it
    has a list of users. With `is_last`, nothing may follow the object."""
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
                raise SourceRefused(_broken(broken, text, path)) from None
            yield SourceRecord(row=row, path=f"{path.name}:{text.line}", problems=broken.problems)
            return True
    _check_end(text, path, is_last=is_last)
    return was_there


def _broken(broken: BrokenValue, text: JsonTextReader, path: Path) -> str:
    message = "; ".join(each.message for each in broken.problems)
    return f"{path} is not a realm export: line {text.line} {message}"


def _check_end(text: JsonTextReader, path: Path, *, is_last: bool) -> None:
    if is_last and text.peek():
        raise SourceRefused(f"{path} is not a realm export: line {text.line} is after its end")


_NO_MEMBER: Final = RowProblem(
    error_code="source.unreadable",
    message="is not JSON: the object ends in the middle",
    fix="Export the file again.",
)
