"""Persons from a realm export of Keycloak."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from idp.transfer.package.rows import RowProblem
from idp.transfer.sources import keycloak_credentials, keycloak_files, source
from idp.transfer.sources.import_row_builder import PersonDraft
from idp.transfer.sources.keycloak_files import RealmSettings
from idp.transfer.sources.source import SourceRecord

_USED_FIELDS: Final = frozenset({
    *("id", "username", "email", "emailVerified", "firstName", "lastName", "credentials"),
    *("enabled", "attributes", "realmRoles", "requiredActions"),
    *("totp", "self", "disableableCredentialTypes", "access"),  # redundant with other members
})  # fmt: skip
_USED_ACTIONS: Final = frozenset({"UPDATE_PASSWORD", "VERIFY_EMAIL"})
_SERVICE_ACCOUNT: Final = "serviceAccountClientId"
_DEFAULT_ROLES_PREFIX: Final = "default-roles-"
_REALM_PREFIX: Final = "realm: "


class Keycloak:
    """A source of persons: a Keycloak export.

    `path` is the file of a realm, of a list of realms or of a list of users, or the directory of
    an export; if it has several realms, `realm` is the one to read.
    """

    names: Mapping[str, str] = {
        "user_name": "username",
        "first_name": "firstName",
        "last_name": "lastName",
        "display_name": "firstName",
        "language": "attributes.locale",
        "is_email_verified": "emailVerified",
        "password_hash": "credentials.password",
        "otp_secret": "credentials.otp",
        "roles": "realmRoles",
    }
    reasons: Mapping[str, str] = {
        "createdTimestamp": "the service records its own time",
        "notBefore": "sessions and tokens aren't migrated",
        "groups": "groups aren't migrated: assign roles instead",
        "clientRoles": "roles belong to projects: create and assign them there",
        "clientConsents": "applications ask for consent again where necessary",
        "federatedIdentities": "accounts with other providers are not linked",
        "federationLink": "other stores of users, such as LDAP, aren't supported",
        "origin": "other stores of users, such as LDAP, aren't supported",
    }

    def __init__(self, path: Path, realm: str | None = None) -> None:
        self._path = path
        self._realm = realm

    def drafts(self) -> Iterator[PersonDraft]:
        row, is_all = 1, not self._path.is_dir()
        for path in keycloak_files.files(self._path, self._realm):
            for content in keycloak_files.contents(path, row, self._realm, is_all=is_all):
                if isinstance(content, RealmSettings):
                    yield from _dropped_settings(content, path)
                else:
                    row = content.row + 1
                    yield _draft(content)
        for path in keycloak_files.federated(self._path):
            yield PersonDraft(
                row=row, path=path.name, is_skipped=True, dropped=["federatedUsers"],
                problems=[_FEDERATED],
            )  # fmt: skip
            row += 1


_NO_USERS: Final = ("realm", "id", "users", "enabled", "keycloakVersion")


def _dropped_settings(settings: RealmSettings, path: Path) -> Iterator[PersonDraft]:
    """Yields drafts that count the realm's own settings, which are not converted; each element of
    a list counts."""
    if settings.name in _NO_USERS or settings.value in (None, "", [], {}, False, 0):
        return
    if isinstance(settings.value, list | dict):
        name = f"{_REALM_PREFIX}{settings.name}"
        count = len(settings.value) if isinstance(settings.value, list) else 1
        yield PersonDraft(row=0, path=path.name, is_skipped=True, dropped=[name] * count)


_FEDERATED: Final = RowProblem(
    error_code="source.federated",
    message="users of another store, such as LDAP, are not in an export",
    fix="Export them from that store, and use idp migrate csv.",
    is_error=False,
)


def _draft(source_record: SourceRecord) -> PersonDraft:
    record, draft = source_record.members(), source_record.draft()
    if draft.problems:
        return draft
    user_name, given_name, family_name = (
        record.get(each) for each in ("username", "firstName", "lastName")
    )
    draft.id, draft.user_name = record.get("id", ""), user_name
    draft.first_name, draft.last_name = given_name or user_name, family_name or user_name
    if not (given_name and family_name):
        draft.display_name = given_name or family_name or user_name
    draft.email = record.get("email")
    draft.is_email_verified = record.get("emailVerified") or False
    draft.is_inactive = record.get("enabled") is False
    draft.dropped = source.dropped(record, _USED_FIELDS)
    draft.dropped += _attributes(draft, record.get("attributes"))
    draft.dropped += _roles(draft, record.get("realmRoles"))
    draft.dropped += keycloak_credentials.add_to(draft, record.get("credentials"))
    draft.dropped += _actions(draft, record.get("requiredActions"))
    if record.get(_SERVICE_ACCOUNT):
        draft.is_skipped = True
        draft.problems.append(_SERVICE_ACCOUNT_SKIPPED)
    return draft


_SERVICE_ACCOUNT_SKIPPED: Final = RowProblem(
    error_code="source.service_account",
    field=_SERVICE_ACCOUNT,
    message="is the account of a client, not of a person",
    fix="Make a service user: idp service-user create.",
    is_error=False,
)


def _attributes(draft: PersonDraft, attributes: object) -> list[str]:
    if not isinstance(attributes, dict):
        return ["attributes"] if attributes else []
    values = {name: _single(value) for name, value in attributes.items()}
    draft.language = values.pop("locale", "")
    draft.metadata = {f"attributes.{name}": value for name, value in values.items()}
    return []


def _single(value: object) -> object:
    """Returns the only element of a list.

    Keycloak writes each attribute as a list, mostly of one text.
    """
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _roles(draft: PersonDraft, roles: object) -> list[str]:
    if not isinstance(roles, list):
        return ["realmRoles"] if roles else []
    # Every user has the realm's default role, so it is not carried over.
    draft.roles = [each for each in roles if not str(each).startswith(_DEFAULT_ROLES_PREFIX)]
    return []


def _actions(draft: PersonDraft, actions: object) -> list[str]:
    """Applies the required actions; returns the names of those that are dropped.

    VERIFY_EMAIL needs no field: an unverified address implies it.
    """
    if not isinstance(actions, list):
        return ["requiredActions"] if actions else []
    if "UPDATE_PASSWORD" in actions:
        draft.must_change = True
    return [f"requiredActions.{each}" for each in actions if each not in _USED_ACTIONS]
