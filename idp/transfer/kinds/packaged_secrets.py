"""Secrets of applications and service users in a package, as digests in the stored form.

So a program can use its secret after a move. A secret that cannot be moved is replaced by the
call that generates a new one.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any, Final

from msgspec import Struct

from idp.credentials.client_secrets import SecretOwner
from idp.records import OldSecret
from idp.schema.field_rules import FieldRefused, Instant, Schema, Text
from idp.schema.reading import Request
from idp.transfer.kinds import export_iteration

_DIGEST: Final = re.compile(r"[A-Za-z0-9_-]{43}")


class SecretDigest(Struct, frozen=True):
    """The rule of a field that holds the SHA-256 digest of a secret, in base64url without
    padding.
    """

    def read(self, value: object) -> str:
        text = Text(1).read(value)
        if not _DIGEST.fullmatch(text):
            message = "is not the SHA-256 of a secret, in 43 characters of base64url"
            raise FieldRefused("secret.digest", message)
        return text

    def schema(self) -> Schema:
        return Text(1).schema() | {"pattern": f"^{_DIGEST.pattern}$"}


class HashedSecret(Request, frozen=True, kw_only=True):
    value: Annotated[str, SecretDigest()]
    creation_date: Annotated[datetime, Instant()] | None = None


class EndingSecret(HashedSecret, frozen=True, kw_only=True):
    """A former secret, which is valid in addition to the current one until it expires."""

    expiration_date: Annotated[datetime, Instant()]


def record_fields(current: HashedSecret | None, old: EndingSecret | None) -> dict[str, Any]:
    """Returns the fields that store these secrets in the record of an application or service user,
    as a dict; empty if `current` is None.
    """
    if current is None:
        return {}
    return {
        "secret_hash": current.value,
        "secret_created_at": current.creation_date,
        "old_secret": old
        and OldSecret(hash=old.value, ends_at=old.expiration_date, created_at=old.creation_date),
    }


def exported(owner: SecretOwner) -> dict[str, Any]:
    """Returns the members of an exported row that hold the digests of the owner's secrets, as a
    dict; empty if there is none.
    """
    if owner.secret_hash is None:
        return {}
    current = {
        "value": owner.secret_hash,
        "creationDate": export_iteration.instant(owner.secret_created_at),
    }
    members = {"hashedSecret": export_iteration.non_empty(current)}
    if owner.old_secret is not None:
        old = {
            "value": owner.old_secret.hash,
            "creationDate": export_iteration.instant(owner.old_secret.created_at),
            "expirationDate": export_iteration.instant(owner.old_secret.ends_at),
        }
        members["previousSecret"] = export_iteration.non_empty(old)
    return members
