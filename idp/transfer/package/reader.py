"""The reader of a package: its envelope, its organizations, and their rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from idp.foundation.errors import FieldProblem, InvalidArgument
from idp.foundation.strict_json import child
from idp.schema.field_rules import FieldRefused, Text
from idp.transfer.kinds.kind import RowKind
from idp.transfer.package.json_stream import JsonStream, UnusableValue
from idp.transfer.package.rows import RowProblem, problem, snake_case, value_of
from idp.transfer.package.spool import WHOLE_ORGANIZATION, Spool, SpooledRow

MAX_ORGANIZATIONS: Final = 1_000_000
MAX_ENVELOPE_OPTIONS: Final = 64 * 1024
MAX_ROW_PROBLEMS: Final = 10
# The member of a request that holds the package. An export's answer has `orgs` without one.
ENVELOPE_MEMBERS: Final = ("dataOrgs", "data_orgs", "dataOrgsv1", "data_orgsv1")
# The members of a request that contain the location of a package in object storage.
LOCATION_MEMBERS: Final = tuple(
    name
    for vendor in ("gcs", "s3", "azure")
    for version in ("", "v1")
    for name in (f"dataOrgs{version}{vendor.capitalize()}", f"data_orgs{version}_{vendor}")
)
# Rows of this member describe an organization itself, not its contents.
ORGANIZATION: Final = "org"
# The row file of lists that belong to no kind: a row's `document` is the list's name.
UNKNOWN_LISTS: Final = ""
_ORG_ID: Final = "orgId"
_LEGACY_NAMES: Final = {"iamPolicy": "domainPolicy", "iam_policy": "domainPolicy"}
_ID: Final = Text(1)


_NO_ID: Final = problem(FieldProblem("field.required", _ORG_ID, "is required"))
_NO_LIST: Final = problem(FieldProblem("field.wrong_type", "", "must be a list"))
_NO_OBJECT: Final = problem(FieldProblem("field.wrong_type", "", "must be an object"))


class PackageReader:
    """A reader that writes the rows of a package into the files of a `Spool`.

    `ids` has the ids of the organizations in the order of the document; in place of an id that is
    missing or invalid it has the problem. `envelope_options` holds the members of the document
    next to the organizations.
    """

    def __init__(self, temporary_dir: Path, spool: Spool, kinds: Sequence[RowKind]) -> None:
        self._scratch = temporary_dir
        self._add = spool.add
        self._kinds = {kind.member: kind for kind in kinds}
        self._members = {snake_case(_ORG_ID): _ORG_ID} | _LEGACY_NAMES
        self._members |= {snake_case(name): name for name in self._kinds}
        self.ids: list[str | RowProblem] = []
        self.envelope_options: dict[str, object] = {}

    def read(self, stream: JsonStream) -> None:
        """Reads the whole document into the spool. Raises InvalidArgument if it is not a
        package.
        """
        envelope = ""
        for name in stream.members():
            if name != "orgs" and name not in ENVELOPE_MEMBERS:
                self._store_envelope_option(name, stream.value())
            elif not _is_null(stream):
                if envelope:
                    message = f"can't be sent together with {envelope}"
                    raise InvalidArgument([FieldProblem("field.conflict", name, message)])
                envelope = name
                self._read_data(name, stream)
        stream.end()
        if not envelope and not self.envelope_options.keys() & set(LOCATION_MEMBERS):
            message = f"has none of {', '.join(ENVELOPE_MEMBERS)} and orgs"
            raise InvalidArgument([FieldProblem("package.no_organizations", "", message)])

    def _store_envelope_option(self, name: str, value: object) -> None:
        self.envelope_options[name] = value
        if len(msgspec.json.encode(self.envelope_options)) > MAX_ENVELOPE_OPTIONS:
            message = f"and the members before it have more than {MAX_ENVELOPE_OPTIONS} bytes"
            raise InvalidArgument([FieldProblem("json.too_large", name, message)])

    def _read_data(self, name: str, stream: JsonStream) -> None:
        if name == "orgs":
            self._read_organizations(name, stream)
        elif stream.peek() == '"':
            self._read_text(name, stream)
        else:
            self._read_envelope(name, stream)

    def _read_text(self, name: str, stream: JsonStream) -> None:
        """Reads a package that is sent as a JSON document within a string.

        The string is first written to a file, which bounds the memory.
        """
        path = self._scratch / "inline.json"
        with path.open("xb") as file:
            path.chmod(0o600)
            for chunk in stream.text():
                file.write(_encoded(name, chunk))
        with path.open("rb") as file:
            inner = JsonStream(file)
            self._read_envelope(name, inner)
            inner.end()
        path.unlink()

    def _read_envelope(self, name: str, stream: JsonStream) -> None:
        path = child(name, "orgs")
        has_organizations = False
        for member in stream.members():
            if member != "orgs":
                raise InvalidArgument(
                    [FieldProblem("field.unknown", child(name, member), "is not known")]
                )
            self._read_organizations(path, stream)
            has_organizations = True
        if not has_organizations:
            raise InvalidArgument([FieldProblem("field.required", path, "is required")])

    def _read_organizations(self, path: str, stream: JsonStream) -> None:
        if stream.peek() not in ("[", ""):
            raise InvalidArgument([FieldProblem("field.wrong_type", path, "must be a list")])
        for index in stream.elements():
            if index == MAX_ORGANIZATIONS:
                raise InvalidArgument(
                    [FieldProblem("field.too_many", path, f"has more than {MAX_ORGANIZATIONS}")]
                )
            # Replaced when the id is read, which may come after the rows.
            self.ids.append(_NO_ID)
            if stream.peek() == "{":
                self._read_organization(index, stream)
            else:
                self._read_non_object(index, stream)

    def _read_non_object(self, index: int, stream: JsonStream) -> None:
        """Adds a row for an element that is no object.

        null is ignored: other systems write it for an organization that they omitted.
        """
        document, broken = _read(stream)
        self.ids[index] = ""
        if document is not None or broken:
            self._add(
                ORGANIZATION, SpooledRow(index, WHOLE_ORGANIZATION, None, broken or (_NO_OBJECT,))
            )

    def _read_organization(self, number: int, stream: JsonStream) -> None:
        seen: set[str] = set()
        for name in stream.members():
            member = self._members.get(name, name)
            if member in seen:
                message = "is listed twice in its object, under both of its names"
                raise InvalidArgument(
                    [FieldProblem("json.duplicate", f"orgs[{number}].{member}", message)]
                )
            seen.add(member)
            if member == _ORG_ID:
                self.ids[number] = _read_id(stream)
            elif kind := self._kinds.get(member):
                self._read_member(number, kind, stream)
            else:
                _read(stream)
                self._add(UNKNOWN_LISTS, SpooledRow(number, None, name))
        if isinstance(self.ids[number], RowProblem):
            self._add(ORGANIZATION, SpooledRow(number, WHOLE_ORGANIZATION))

    def _read_member(self, number: int, kind: RowKind, stream: JsonStream) -> None:
        if stream.peek() == "[" and not kind.is_single:
            for index in stream.elements():
                document, broken = _read(stream)
                row = SpooledRow(number, index, document, broken)
                self._add(kind.member, row, None if broken else _identity(kind, document))
            return
        document, broken = _read(stream)
        if kind.is_single or broken:
            if document is not None or broken:
                self._add(kind.member, SpooledRow(number, None, document, broken))
        elif document is not None:
            self._add(kind.member, SpooledRow(number, None, None, (_NO_LIST,)))


def _identity(kind: RowKind, document: object) -> tuple[str, ...] | None:
    """Returns the identity of a row's record within its kind, under either style of names; None if
    unknown.
    """
    if not kind.identity or not isinstance(document, dict):
        return None
    values = []
    for name in kind.identity:
        text = value_of(document, name)
        if not isinstance(text, str):
            return None
        values.append(text)
    return tuple(values)


def _encoded(name: str, text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidArgument(
            [FieldProblem("json.characters", name, "contains a lone surrogate")]
        ) from None


def _is_null(stream: JsonStream) -> bool:
    """Returns whether the member is null, which is then consumed."""
    return stream.peek() == "n" and stream.value() is None


def _read(stream: JsonStream) -> tuple[object, tuple[RowProblem, ...]]:
    """Returns the next value; or the texts that name it, and the problems that make it
    unusable."""
    try:
        return stream.value(), ()
    except UnusableValue as error:
        return error.texts or None, tuple(
            problem(each) for each in error.problems[:MAX_ROW_PROBLEMS]
        )


def _read_id(stream: JsonStream) -> str | RowProblem:
    document, broken = _read(stream)
    if broken:
        return broken[0]
    try:
        return _ID.read(document)
    except FieldRefused as refused:
        return problem(FieldProblem(refused.error_code, _ORG_ID, refused.message))
