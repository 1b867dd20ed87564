"""Base structs of the management API's answers: camelCase, UTC, without members that have their
default value."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import BinaryIO, Final, Protocol

from msgspec import Struct

# Members that are returned only once. The token of a domain is no secret, because it gets
# published.
_SECRETS: Final = frozenset(
    {
        "clientSecret",
        "emailCode",
        "inviteCode",
        "keyDetails",
        "phoneCode",
        "token",
        "verificationCode",
    }
)
# The member by which the answer with a domain's token is recognised.
_DOMAIN_MEMBER: Final = "url"


class Answer(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The base of every answer struct of the management API, and of the structs of the objects in
    it."""


class FileAnswer(Struct, frozen=True):
    """An answer that is too large for memory: JSON in a file, which the code that sends the answer
    reads from its beginning and closes."""

    file: BinaryIO


class Details(Answer, frozen=True, kw_only=True):
    """The version of a record: its `sequence`, a 64-bit integer, and its dates."""

    sequence: str
    resource_owner: str
    creation_date: datetime | None = None
    change_date: datetime | None = None


class Changed(Answer, frozen=True, kw_only=True):
    """The answer of a call that changes or removes a record and returns nothing else."""

    details: Details


class Dated(Protocol):
    """A record that has a sequence and the time of its creation; it may also have `changed_at`,
    the time of its last change."""

    @property
    def sequence(self) -> int: ...

    @property
    def created_at(self) -> datetime: ...


def details(record: Dated, resource_owner: str) -> Details:
    """Returns the member `details` of an answer about a record: its sequence, and the times of its
    creation and last change.

    `resource_owner` is the id of the organization that the record belongs to.
    """
    return Details(
        sequence=str(record.sequence),
        creation_date=record.created_at,
        change_date=getattr(record, "changed_at", None) or record.created_at,
        resource_owner=resource_owner,
    )


def secrets_in(answer: Mapping[str, object]) -> frozenset[str]:
    """Returns the names of those members of an answer, as it is in JSON, that contain secrets."""
    return frozenset() if _DOMAIN_MEMBER in answer else _SECRETS.intersection(answer)
