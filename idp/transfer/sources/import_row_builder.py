"""A person as a source describes it, and the import row that is built from it.
Fields that the import requires are validated by its own rules, and a person without them is
omitted. An invalid optional field is dropped with a warning.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, field

from idp.management.users.new_user import OtpSecret, UserId
from idp.management.users.person_fields import GENDERS, WebPage
from idp.passwords import schemes
from idp.schema.field_rules import (
    EmailRule,
    FieldRefused,
    Language,
    OneOf,
    PhoneRule,
    Rule,
    Text,
    UserName,
    wrong_type,
)
from idp.transfer.package.rows import Action, RowProblem

INACTIVE: Final = "USER_STATE_INACTIVE"
_MAX_PHONE: Final = 50
_FIX_IN_SOURCE: Final = "Fix it in the source, or in its file."
_FIX_ADDRESS: Final = (
    "Add it in the source, or in its file; or keep users without an email address, by"
    " --keep-incomplete."
)
_FIX_IF_NEEDED: Final = "It is left out; fix it in the source if it is needed."
# The beginning of `{NAME}` in base64, as LDIF (RFC 2849) has a value after two colons.
_LDIF_BASE64: Final = re.compile(r"e[0-3][A-Za-z0-9+/]+={0,2}")
_LDIF_VALUE: Final = re.compile(rb"\{[A-Za-z0-9@_.-]+\}[!-~]+\s*")
_FIX_BY_RESET: Final = "The user sets a new password with 'forgot password'."  # noqa: S105


class PersonDraft(Struct, kw_only=True):
    """The fields of a person as a source has them, unvalidated: any field may have any JSON type.

    `row` is the number of the source's record, and `path` its position in the file. A draft with
    an error among its `problems`, or with `is_skipped`, is not written to the package. `dropped`
    names the fields that the service cannot store; `roles` are role keys of the chosen project.
    Row 0 is no record and only carries dropped fields. A draft with `is_incomplete` may lack an
    e-mail address.
    """

    row: int
    path: str
    id: object = ""
    user_name: object = ""
    first_name: object = ""
    last_name: object = ""
    nick_name: object = ""
    display_name: object = ""
    language: object = ""
    gender: object = ""
    picture: object = ""
    email: object = ""
    is_email_verified: object = False
    phone: object = ""
    is_phone_verified: object = False
    password: object = ""
    password_hash: object = ""
    must_change: object = False
    otp_secret: object = ""
    is_inactive: bool = False
    is_incomplete: bool = False
    is_skipped: bool = False
    metadata: dict[str, object] = field(default_factory=dict)
    roles: Sequence[object] = ()
    dropped: Sequence[str] = ()
    problems: list[RowProblem] = field(default_factory=list)

    @property
    def action(self) -> Action:
        """The outcome of this record: `create`, `skip`, or with an error `fail`."""
        if any(each.is_error for each in self.problems):
            return "fail"
        return "skip" if self.is_skipped else "create"

    @property
    def name(self) -> str:
        """The first of id, user name and e-mail address that is not empty, as a report names the
        record.
        """
        names = (self.id, self.user_name, self.email)
        return next((each for each in names if isinstance(each, str) and each), "")


class _Hash(Struct, frozen=True):
    """A hash in a format that the service verifies, or its base64 from LDIF, without white space
    around. The import itself checks its strength."""

    def read(self, value: object) -> str:
        text = Text(1).read(value.strip() if isinstance(value, str) else value)
        encoded = _without_base64(text)
        try:
            schemes.read(encoded)
        except schemes.UnreadableHash as error:
            raise FieldRefused(error.error_code, error.message) from None
        return encoded

    def schema(self) -> dict[str, Any]:
        return Text(1).schema()


def _without_base64(encoded: str) -> str:
    """Returns the hash whose base64 LDIF has; any other text is returned unchanged."""
    if not _LDIF_BASE64.fullmatch(encoded):
        return encoded
    try:
        decoded = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        return encoded
    return decoded.decode("ascii").strip() if _LDIF_VALUE.fullmatch(decoded) else encoded


class _FieldTarget(Struct, frozen=True):
    """Where a value that a source has read about a person goes in the row of the package: the path
    of its member, the rule that it has to fulfil, whether no person is imported without it
    (`is_needed`), and what the report proposes for a person who lacks it (`fix`)."""

    path: tuple[str, ...]
    rule: Rule
    is_needed: bool = False
    fix: str = _FIX_IF_NEEDED


FIELD_TARGETS: Final[Mapping[str, _FieldTarget]] = {
    "id": _FieldTarget(("userId",), UserId(), is_needed=True),
    "user_name": _FieldTarget(("user", "userName"), UserName(), is_needed=True),
    "first_name": _FieldTarget(("user", "profile", "firstName"), Text(1), is_needed=True),
    "last_name": _FieldTarget(("user", "profile", "lastName"), Text(1), is_needed=True),
    "nick_name": _FieldTarget(("user", "profile", "nickName"), Text()),
    "display_name": _FieldTarget(("user", "profile", "displayName"), Text()),
    "language": _FieldTarget(("user", "profile", "preferredLanguage"), Language()),
    "gender": _FieldTarget(("user", "profile", "gender"), OneOf(tuple(GENDERS))),
    "picture": _FieldTarget(("user", "profile", "picture"), WebPage()),
    "email": _FieldTarget(("user", "email", "email"), EmailRule(), is_needed=True),
    "phone": _FieldTarget(("user", "phone", "phone"), PhoneRule(_MAX_PHONE)),
    "password": _FieldTarget(("user", "password"), Text(1, is_free=True), fix=_FIX_BY_RESET),
    "password_hash": _FieldTarget(("user", "hashedPassword", "value"), _Hash(), fix=_FIX_BY_RESET),
    "otp_secret": _FieldTarget(("user", "otpCode"), OtpSecret()),
}
_SWITCHES: Final[Mapping[str, tuple[str, ...]]] = {
    "is_email_verified": ("user", "email", "isEmailVerified"),
    "is_phone_verified": ("user", "phone", "isPhoneVerified"),
    "must_change": ("user", "passwordChangeRequired"),
}


def build_row(draft: PersonDraft, names: Mapping[str, str]) -> dict[str, Any]:
    """Returns the row of `humanUsers` for a draft, and appends problems of its fields to the
    draft.

    Problems name the draft's fields by the source's `names`. The row is complete only if the draft
    does not fail.
    """
    row: dict[str, Any] = {}
    for name, target in FIELD_TARGETS.items():
        value = getattr(draft, name)
        if value in ("", None):
            if _is_needed(draft, name):
                draft.problems.append(_missing(names.get(name, name), name))
            continue
        try:
            _put(row, target.path, target.rule.read(value))
        except FieldRefused as refused:
            draft.problems.append(_refused(refused, names.get(name, name), target))
    _switch(draft, row, names)
    return row


def _missing(source_name: str, name: str) -> RowProblem:
    return RowProblem(
        error_code="field.required",
        field=source_name,
        message="is missing",
        fix=_FIX_ADDRESS if name == "email" else _FIX_IN_SOURCE,
    )


def _is_needed(draft: PersonDraft, name: str) -> bool:
    return FIELD_TARGETS[name].is_needed and not (name == "email" and draft.is_incomplete)


def _switch(draft: PersonDraft, row: dict[str, Any], names: Mapping[str, str]) -> None:
    """Sets the flags that are true, where the row has the object that they belong to."""
    for name, path in _SWITCHES.items():
        value = getattr(draft, name)
        if not isinstance(value, bool):
            wrong = wrong_type("true or false")
            draft.problems.append(
                _refused(wrong, names.get(name, name), _FieldTarget(path, Text()))
            )
        elif value and _has(row, path[:-1]):
            _put(row, path, value)
    if draft.is_incomplete:
        _put(row, ("user", "incomplete"), True)
    if draft.is_inactive:
        _put(row, ("user", "state"), INACTIVE)


def _refused(refused: FieldRefused, name: str, target: _FieldTarget) -> RowProblem:
    return RowProblem(
        error_code=refused.error_code,
        field=name,
        message=refused.message,
        fix=_FIX_IN_SOURCE if target.is_needed else target.fix,
        is_error=target.is_needed,
    )


def _put(row: dict[str, Any], path: Sequence[str], value: Any) -> None:
    for name in path[:-1]:
        row = row.setdefault(name, {})
    row[path[-1]] = value


def _has(row: dict[str, Any], path: Sequence[str]) -> bool:
    for name in path:
        row = row.get(name, {})
    return bool(row)
