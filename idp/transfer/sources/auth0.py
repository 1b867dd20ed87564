"""Users of Auth0, from the file of its export job and the password file that its support sends."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from msgspec import structs

from idp.transfer.package.rows import RowProblem
from idp.transfer.sources import source
from idp.transfer.sources.auth0_passwords import Passwords
from idp.transfer.sources.import_row_builder import PersonDraft
from idp.transfer.sources.json_text_reader import JsonTextReader
from idp.transfer.sources.source import SourceRecord

_USED_FIELDS: Final = frozenset({
    *("user_id", "email", "email_verified", "name", "username", "given_name", "family_name"),
    *("nickname", "locale", "phone_number", "phone_verified", "blocked", "identities"),
    *("app_metadata", "user_metadata", "picture"),
})  # fmt: skip
_LANGUAGE_TAG: Final = re.compile(r"([A-Za-z]{2,3})([-_][A-Za-z0-9]{1,8})*")
# Language codes of ISO 639 that were withdrawn, and the current ones.
_REPLACED_LANGUAGES: Final = {"iw": "he", "in": "id", "ji": "yi", "jw": "jv", "mo": "ro"}
_OWN_PROVIDER: Final = "auth0|"


class Auth0:
    """A source of persons: the file `users` of an Auth0 export, and the file `passwords` with
    their hashes, or None without passwords.

    `email_verified` is whether the addresses of all users are verified; with None, each user's own
    value applies.
    """

    names: Mapping[str, str] = {
        "id": "user_id",
        "user_name": "username",
        "first_name": "given_name",
        "last_name": "family_name",
        "nick_name": "nickname",
        "display_name": "name",
        "language": "locale",
        "is_email_verified": "email_verified",
        "phone": "phone_number",
        "is_phone_verified": "phone_verified",
        "password_hash": "passwordHash",
    }
    reasons: Mapping[str, str] = {
        "passwords": "of the password file, only the user and the hash are imported",
        "multifactor": "the export has no secrets: users set up their second factor again",
        "guardian_authenticators": "the export has no secrets: users set them up again",
        "identities": "accounts with other providers are not linked",
        "created_at": "the service records its own time",
        "updated_at": "the service records its own time",
        "last_login": "the audit log begins with the import",
        "last_ip": "the audit log begins with the import",
        "logins_count": "the audit log begins with the import",
    }

    def __init__(
        self, users: Path, passwords: Path | None, email_verified: bool | None = None
    ) -> None:
        self._users = users
        self._passwords = passwords
        self._email_verified = email_verified

    def drafts(self) -> Iterator[PersonDraft]:
        """Yields drafts of the unreadable passwords, then of all users, then of the passwords
        without a user.

        Raises SourceRefused.
        """
        with Passwords() as passwords:
            if self._passwords is not None:
                yield from passwords.read(self._passwords)
            row = 1
            with source.open_file(self._users) as file:
                records = source.records(JsonTextReader(file), self._users.name)
                for row, source_record in enumerate(_users(records), 1):
                    yield self._draft(structs.replace(source_record, row=row), passwords)
                    row += 1
            yield from passwords.unused(row)

    def _draft(self, source_record: SourceRecord, passwords: Passwords) -> PersonDraft:
        record, draft = source_record.members(), source_record.draft()
        if draft.problems:
            return draft
        email, name = record.get("email"), record.get("name")
        user_name = record.get("username") or email
        given_name, family_name = record.get("given_name"), record.get("family_name")
        draft.id, draft.user_name, draft.email = record.get("user_id", ""), user_name, email
        draft.first_name = given_name or name or user_name
        # The import requires both names, so each falls back to what the export has.
        draft.last_name = family_name or name or user_name or draft.first_name
        draft.display_name, draft.nick_name = name, record.get("nickname")
        draft.language = base_language(record.get("locale"))
        draft.is_email_verified = self._is_verified(record)
        draft.picture = record.get("picture")
        draft.phone = record.get("phone_number")
        draft.is_phone_verified = bool(draft.phone) and (record.get("phone_verified") or False)
        draft.is_inactive = record.get("blocked") is True
        draft.metadata = dict(_metadata(record))
        draft.dropped = _dropped(record, draft)
        self._add_password(draft, passwords)
        return draft

    def _is_verified(self, record: Mapping[str, Any]) -> object:
        if self._email_verified is not None:
            return self._email_verified
        return record.get("email_verified") or False

    def _add_password(self, draft: PersonDraft, passwords: Passwords) -> None:
        if not isinstance(draft.id, str):
            return
        password = passwords.pop(draft.id, draft.email)
        if password is None:
            return
        draft.password_hash = password.hash
        # An account of another provider has no password of its own, so a match by address alone is
        # a guess.
        if not password.is_by_id and password.id and not draft.id.startswith(_OWN_PROVIDER):
            draft.problems.append(_MATCHED_BY_ADDRESS)


def _users(records: Iterator[SourceRecord]) -> Iterator[SourceRecord]:
    """Yields the records of users, which a page of the Management API (`include_totals`) has in a
    list."""
    for each in records:
        page = each.members().get("users")
        if isinstance(page, list) and "user_id" not in each.members():
            yield from (structs.replace(each, value=user) for user in page)
        else:
            yield each


_MATCHED_BY_ADDRESS: Final = RowProblem(
    error_code="source.password_by_address",
    field="passwordHash",
    message="was matched by the email address alone",
    fix="Check that both accounts belong to the same person.",
    is_error=False,
)


def _metadata(record: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for part in ("user_metadata", "app_metadata"):
        values = record.get(part)
        if isinstance(values, dict):
            yield from ((f"{part}.{name}", value) for name, value in values.items())


def _dropped(record: Mapping[str, Any], draft: PersonDraft) -> list[str]:
    names = source.dropped(record, _USED_FIELDS)
    identities = record.get("identities")
    if identities and not _is_own(identities, draft.id):
        names.append("identities")
    if record.get("locale") and not draft.language:
        names.append("locale")
    for part in ("user_metadata", "app_metadata"):
        if record.get(part) and not isinstance(record[part], dict):
            names.append(part)
    return names


def _is_own(identities: object, user_id: object) -> bool:
    """Returns whether the only identity is the one that the user's id names."""
    if not isinstance(identities, list) or len(identities) != 1:
        return False
    (only,) = identities
    return isinstance(only, dict) and f"{only.get('provider')}|{only.get('user_id')}" == user_id


def base_language(locale: object) -> str:
    """Returns the language subtag of a locale, `en` of `en-US`; empty if the language is
    unknown.
    """
    match = _LANGUAGE_TAG.fullmatch(locale) if isinstance(locale, str) else None
    base = match[1].lower() if match else ""
    base = _REPLACED_LANGUAGES.get(base, base)
    return base if base in _languages() else ""


@cache
def _languages() -> frozenset[str]:
    from babel import Locale

    return frozenset(Locale("en").languages)
