"""Persons from a file of JSON lines, one each.

A line is the body of the request that imports one person (`idp.management.users.import_one`), with
a `userId` added, or a row of a package: `{"userId", "user"}`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from idp.transfer.sources import fields_of_import as fields
from idp.transfer.sources import source
from idp.transfer.sources.import_row_builder import INACTIVE, PersonDraft
from idp.transfer.sources.json_text_reader import JsonTextReader
from idp.transfer.sources.source import SourceRecord, SourceRefused

_PARTS: Final = frozenset({"profile", "email", "phone", "hashedPassword", "metadata", "user"})
_FIELDS: Final = frozenset({*_PARTS, *fields.FIELD_BY_PATH, *fields.OTHER_NAMES})
_STATES: Final = {"USER_STATE_ACTIVE": False, INACTIVE: True, "": False, None: False}
_PACKAGE: Final = frozenset({"dataOrgs", "data_orgs", "dataOrgsv1", "data_orgsv1", "orgs"})
_ALGORITHM: Final = "hashedPassword.algorithm"  # the hash itself names it


class JsonLines:
    """A source of persons: a file of JSON lines."""

    names: Mapping[str, str] = fields.NAMES
    reasons: Mapping[str, str] = {}

    def __init__(self, path: Path, org_id: str) -> None:
        self._path = path
        self._org_id = org_id

    def drafts(self) -> Iterator[PersonDraft]:
        with source.open_file(self._path) as file:
            for source_record in source.records(JsonTextReader(file), self._path.name):
                _check(source_record, self._path)
                yield _draft(source_record, self._org_id)


def _check(source_record: SourceRecord, path: Path) -> None:
    """Raises SourceRefused if the record is not one person but a whole file of another command."""
    members = source_record.members()
    if "realm" in members or "username" in members:
        raise SourceRefused(f"{path} is an export of Keycloak: use idp migrate keycloak --realm")
    if "user_id" in members:
        raise SourceRefused(f"{path} is an export of Auth0: use idp migrate auth0 --users")
    if not _PACKAGE.isdisjoint(members):
        raise SourceRefused(f"{path} is the body of an import already: use idp import {path}")
    if name := _name_of_list(members):
        raise SourceRefused(
            f"{path} has its users in the list {name}: write each of them on a separate line, in"
            " the fields of the import"
        )


def _name_of_list(members: Mapping[str, Any]) -> str:
    """Returns the name of the list that an object around persons has them in: `users`, or the only
    list of objects where the object has no field of a person; empty if there is none."""
    lists = {name: value for name, value in members.items() if isinstance(value, list)}
    if name := next((each for each in ("users", "Users") if each in lists), ""):
        return name
    names = [name for name, elements in lists.items() if all(map(_is_object, elements))]
    return names[0] if len(names) == 1 and _FIELDS.isdisjoint(members) else ""


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _draft(source_record: SourceRecord, org_id: str) -> PersonDraft:
    record, draft = source_record.members(), source_record.draft()
    if draft.problems:
        return draft
    if isinstance(record.get("user"), dict):
        # A row of a package has the person in `user`.
        record = record["user"] | {each: record[each] for each in record if each != "user"}
    values = dict(_flat(record))
    for path, field in fields.FIELD_BY_PATH.items():
        if path in values and field != "state":
            setattr(draft, field, values[path])
    state = values.get("state")
    draft.is_inactive = isinstance(state, str) and _STATES.get(state, False)
    draft.metadata = dict(_metadata(record.get("metadata")))
    members = frozenset({*fields.FIELD_BY_PATH, _ALGORITHM, "metadata"})
    draft.dropped = source.dropped(values, members)
    if not (state is None or (isinstance(state, str) and state in _STATES)):
        draft.dropped.append("state")
    draft.id = draft.id or fields.derived_id(org_id, draft.user_name)
    return draft


def _flat(record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yields each value by its path.

    A value that is not an object, though its member should be one, is yielded by the member's
    name.
    """
    for name, value in record.items():
        if name in _PARTS and isinstance(value, dict):
            yield from ((f"{name}.{each}", inner) for each, inner in value.items())
        else:
            yield name, value


def _metadata(entries: object) -> Iterator[tuple[str, object]]:
    """Yields the entries {key, value} of the management API, whose values are in base64."""
    for each in entries if isinstance(entries, list) else ():
        if isinstance(each, dict) and isinstance(each.get("key"), str):
            yield each["key"], Base64Text(each.get("value"))


class Base64Text:
    """A metadata value that the source has in base64 already, so that it is not encoded again."""

    def __init__(self, text: object) -> None:
        self.text = text
