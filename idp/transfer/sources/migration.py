"""The migration of a source's persons to a package, without duplicates, with a report of the
omitted data.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from idp.identity.users import lookup as user_lookup
from idp.management.users.new_user import MAX_METADATA_CHARACTERS
from idp.schema.field_rules import MAX_TEXT
from idp.transfer.package.rows import RowProblem
from idp.transfer.sources.import_row_builder import PersonDraft, build_row
from idp.transfer.sources.key_index import KeyIndex
from idp.transfer.sources.ndjson import Base64Text
from idp.transfer.sources.package_file import PackageFile
from idp.transfer.sources.report import Report
from idp.transfer.sources.source import Source


class MigrationOptions(Struct, frozen=True, kw_only=True):
    """The options of a migration.

    `keeps_attributes` stores the further attributes of persons as metadata, `keeps_incomplete`
    includes persons without an e-mail address, and `project_id` is the project to which roles
    belong; without it roles are dropped.
    """

    keeps_attributes: bool = False
    keeps_incomplete: bool = False
    project_id: str = ""


class Migration:
    """One run of a migration, which writes to `package` and `report`.

    Memory holds the ids, names and addresses seen so far: 54 to 162 bytes per person.
    """

    def __init__(self, package: PackageFile, report: Report, options: MigrationOptions) -> None:
        self._package = package
        self._report = report
        self._options = options
        self._ids, self._names, self._addresses = KeyIndex(), KeyIndex(), KeyIndex()
        self._roles: set[str] = set()

    def run(self, source: Source) -> None:
        """Processes all drafts of a source, and finishes the report.

        Raises SourceRefused; the package is then incomplete and must not be used.
        """
        for draft in source.drafts():
            if draft.row and draft.action == "create":
                self._process(draft, source.names)
            else:
                draft.dropped = [*draft.dropped, *draft.metadata] if draft.row else draft.dropped
            self._report.add(draft)
        self._report.finish()

    def _process(self, draft: PersonDraft, names: Mapping[str, str]) -> None:
        draft.is_incomplete = self._options.keeps_incomplete and draft.email in ("", None)
        row = build_row(draft, names)
        if draft.action == "create":
            self._find_duplicates(draft, row, names)
        if draft.action != "create":
            return
        user_id = row["userId"]
        self._package.add("humanUsers", row)
        draft.dropped = [
            *draft.dropped,
            *self._add_metadata(draft, user_id),
            *self._add_grant(draft, user_id, names),
        ]

    def _find_duplicates(
        self, draft: PersonDraft, row: Mapping[str, Any], names: Mapping[str, str]
    ) -> None:
        user = row["user"]
        first = self._ids.add(row["userId"], draft.row)
        if first is not None:
            draft.problems.append(
                _duplicate(names.get("id", "id"), first, error_code="source.user_doubled")
            )
            return
        first = self._names.add(user_lookup.login_key(user["userName"]), draft.row)
        if first is not None:
            name = names.get("user_name", "user_name")
            draft.problems.append(_duplicate(name, first, error_code="source.name_doubled"))
        if "email" not in user:
            return
        first = self._addresses.add(user_lookup.login_key(user["email"]["email"]), draft.row)
        if first is not None:
            name = names.get("email", "email")
            draft.problems.append(
                _duplicate(name, first, error_code="source.address_doubled", is_error=False)
            )

    def _add_metadata(self, draft: PersonDraft, user_id: str) -> Iterator[str]:
        for key, value in draft.metadata.items():
            encoded = _encoded(value) if self._options.keeps_attributes else None
            if encoded and 0 < len(key) <= MAX_TEXT and key.isprintable():
                self._package.add("userMetadata", {"id": user_id, "key": key, "value": encoded})
            elif value not in (None, "", [], {}):
                yield key

    def _add_grant(
        self, draft: PersonDraft, user_id: str, names: Mapping[str, str]
    ) -> Iterator[str]:
        project, name = self._options.project_id, names.get("roles", "roles")
        keys = [str(each) for each in draft.roles if _is_role(each)] if project else []
        yield from (name for each in draft.roles if each not in keys)
        for key in keys:
            # A role is written once, at its first assignment.
            if key not in self._roles:
                self._roles.add(key)
                role = {"projectId": project, "roleKey": key, "displayName": key}
                self._package.add("projectRoles", role)
        if keys:
            grant = {"userId": user_id, "projectId": project, "roleKeys": keys}
            self._package.add("userGrants", grant)


def _encoded(value: object) -> str | None:
    """Returns a metadata value in base64; None if it is empty or too long.

    Texts are encoded as they are, everything else as JSON.
    """
    if isinstance(value, Base64Text):
        text = value.text if isinstance(value.text, str) else ""
    elif value in (None, "", [], {}):
        return None
    else:
        data = value.encode() if isinstance(value, str) else msgspec.json.encode(value)
        text = base64.b64encode(data).decode()
    return text if 0 < len(text) <= MAX_METADATA_CHARACTERS else None


def _is_role(key: object) -> bool:
    return isinstance(key, str) and 0 < len(key) <= MAX_TEXT and key.isprintable()


def _duplicate(field: str, first: int, *, error_code: str, is_error: bool = True) -> RowProblem:
    return RowProblem(
        error_code=error_code,
        field=field,
        message=f"is already that of record {first}",
        fix=_FIX_ERROR if is_error else _FIX_WARNING,
        is_error=is_error,
    )


_FIX_ERROR: Final = "Join both in the source, or give one of them another."
_FIX_WARNING: Final = "If both are verified, the import accepts only one: join them in the source."
