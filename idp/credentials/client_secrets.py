"""Secrets by which applications and service users authenticate: at most two, during a rotation.

Both are stored in the owner's record, as digests, so that reading the owner is enough to check
them. A secret's id is derived from its digest.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Protocol

from idp.credentials import last_uses
from idp.foundation import opaque_tokens
from idp.foundation.errors import FailedPrecondition, NotFound
from idp.records import OldSecret
from idp.schema.answers import Answer
from idp.schema.field_rules import Duration
from idp.schema.reading import Request
from idp.search.paging import ListDetails
from idp.service import Service
from storage import Write

MAX_OVERLAP: Final = timedelta(days=7)


class SecretOwner(Protocol):
    """The record that owns secrets: an application or a service user."""

    @property
    def secret_hash(self) -> str | None: ...

    @property
    def secret_created_at(self) -> datetime | None: ...

    @property
    def old_secret(self) -> OldSecret | None: ...


class NewSecret(Request, frozen=True, kw_only=True):
    """`overlap` is how long the previous secret stays valid in addition to the new one."""

    overlap: Annotated[timedelta, Duration(max=MAX_OVERLAP)] = timedelta(0)


class SecretView(Answer, frozen=True, kw_only=True):
    """A valid secret. One with an `expiration_date` was replaced by another secret, and expires
    then. Secrets of earlier versions have no date of creation. `last_used_at` is exact to the
    hour.
    """

    id: str
    creation_date: datetime | None = None
    expiration_date: datetime | None = None
    last_used_at: datetime | None = None


class Secrets(Answer, frozen=True, kw_only=True):
    details: ListDetails
    result: list[SecretView] = []


def id_of(digest: str) -> str:
    """Returns the id of a secret: a part of its digest that is long enough to be unique."""
    return f"s{digest[: opaque_tokens.ID_LENGTH]}"


def matching_id(owner: SecretOwner, secret: str, now: datetime) -> str | None:
    """Returns the id of the owner's valid secret that the text `secret` equals; None if it equals
    none.

    Both secrets of the owner are always compared, so the time taken does not reveal which one it
    was.
    """
    digest, old = opaque_tokens.digest(secret), still_valid(owner.old_secret, now)
    is_current = opaque_tokens.equal(owner.secret_hash or "", digest)
    is_old = opaque_tokens.equal(old.hash if old else "", digest)
    return id_of(digest) if is_current or is_old else None


def still_valid(old: OldSecret | None, now: datetime) -> OldSecret | None:
    """Returns `old`, an owner's previous secret, while it is valid; None once it is not, or if
    there is none."""
    return old if old is not None and now < old.ends_at else None


def initial_fields(secret: str | None, now: datetime) -> dict[str, Any]:
    """Returns the fields to store in the record of an owner whose only secret is `secret`, or who
    has none (None)."""
    hashed, created_at = (opaque_tokens.digest(secret), now) if secret else (None, None)
    return {"secret_hash": hashed, "secret_created_at": created_at, "old_secret": None}


def rotation_fields(
    owner: SecretOwner, secret: str, overlap: timedelta, now: datetime
) -> dict[str, Any]:
    """Returns the fields to set in the owner's record at a rotation: `secret` becomes the current
    secret, and the one before remains valid for the time `overlap`."""
    old = None
    if owner.secret_hash is not None:
        made_at, ends_at = owner.secret_created_at, now + overlap
        old = OldSecret(hash=owner.secret_hash, created_at=made_at, ends_at=ends_at)
    return {**initial_fields(secret, now), "old_secret": old}


def removal_fields(owner: SecretOwner, secret_id: str, now: datetime) -> dict[str, Any]:
    """Returns the fields to set in the owner's record in order to end its previous secret, which
    must have this id.

    Raises NotFound; FailedPrecondition for the current secret, which ends only by a rotation.
    """
    old = still_valid(owner.old_secret, now)
    if old is not None and secret_id == id_of(old.hash):
        return {"old_secret": None}
    if owner.secret_hash is not None and secret_id == id_of(owner.secret_hash):
        message = "it is the current secret: generate another one, which replaces it"
        raise FailedPrecondition(message, error_code="secret.current")
    raise NotFound("there is no such secret", error_code="secret.not_found")


def last_use_deletions(before: SecretOwner, after: SecretOwner) -> list[Write]:
    """Returns the writes that delete the recorded last uses of secrets that the change of their
    owner from `before` to `after` has ended, for the unit of that change."""
    return [
        last_uses.deletion(id_of(digest)) for digest in sorted(_hashes(before) - _hashes(after))
    ]


def _hashes(owner: SecretOwner) -> set[str]:
    old = owner.old_secret.hash if owner.old_secret else None
    return {digest for digest in (owner.secret_hash, old) if digest}


async def find_all(service: Service, owner: SecretOwner) -> Secrets:
    """Returns the owner's valid secrets, the current one first."""
    views: list[SecretView] = []
    if owner.secret_hash is not None:
        secret_id = id_of(owner.secret_hash)
        views.append(SecretView(id=secret_id, creation_date=owner.secret_created_at))
    old = still_valid(owner.old_secret, service.clock.now())
    if old is not None:
        expires_at = old.ends_at
        views.append(
            SecretView(
                id=id_of(old.hash), creation_date=old.created_at, expiration_date=expires_at
            )
        )
    return Secrets(
        details=ListDetails(total_result=str(len(views))),
        result=await last_uses.with_last_uses(service, views),
    )
