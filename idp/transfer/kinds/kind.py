"""What a kind of rows is: its name in a package, how a row is read, stored and told again."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

from msgspec import Struct

from idp.foundation import base64url
from idp.records import Organization
from idp.records.jobs import Job
from idp.schema.reading import Request
from idp.service import Service
from idp.transfer.package.rows import PreparedRow, Read, RowProblem
from storage import View


class ImportContext(Struct, frozen=True):
    """The import that rows are prepared for. `service.store` may be a layer over the real one:
    what a dry run writes stays in it."""

    service: Service
    job: Job

    @property
    def actor(self) -> str:
        """Who does it, for the audit log."""
        return self.job.actor

    @property
    def updates(self) -> bool:
        """Whether what exists already is changed; else it is left as it is (`skip`)."""
        return self.job.options.updates


class ExportContext(Struct, frozen=True):
    """The export that records are told for. `view` is one consistent state of the store."""

    service: Service
    view: View
    with_passwords: bool = False
    with_otp: bool = False


RequestType = type[Request]
Ease = Callable[[object], tuple[object, list[RowProblem]]]
Prepare = Callable[[ImportContext, Sequence[Read]], Awaitable[list[PreparedRow]]]
Tell = Callable[[ExportContext, Organization], AsyncIterator[dict[str, Any]]]


class RowKind(Struct, frozen=True, kw_only=True):
    """One list of an organization in a package.

    `member` is its name there (`humanUsers`), `type` that of one row in reports (`human_user`).
    `name` is what a row is called in reports when it can't be read further than this. `identity`
    are the members by which two rows of one package are the same record, told twice.
    `ease`, where there is one, makes a document of another system such that it can be read here,
    with a warning for whatever that takes from it (`idp/transfer/package/lossy_import.py`).
    `prepare` judges a batch of rows of this kind, of any organizations, with few round trips, and
    answers in their order; a unit that then meets somebody else's (Conflict, Stale) is prepared
    again. It reads the store and writes nothing. Every created record carries its event with the
    payload `import_payload`, and its id is the row's or `own_id`. Who finds the record there says
    so in `PreparedRow.met`. `tell` answers an organization's rows in a stable order, such that
    `prepare` would store the same again. A `single` kind is one object, not a list. Rows of a kind
    that `stands_alone` refer to none of their own kind. `unsupported` says why rows of a kind are
    not taken: then `prepare` is None.
    """

    member: str
    type: str
    request: RequestType | None = None
    name: Callable[[Any], str] = lambda _: ""
    identity: tuple[str, ...] = ()
    ease: Ease | None = None
    prepare: Prepare | None = None
    tell: Tell | None = None
    is_single: bool = False
    stands_alone: bool = False
    unsupported: str = ""


def own_id(taking: ImportContext, read: Read) -> str:
    """The id of a row that brings none: the same whenever the row comes again, so that a batch
    that was cut off meets its own records."""
    made = hashlib.sha256(f"{taking.job.id}.{read.row.number}".encode()).digest()
    return base64url.encode(made[:16])


def import_payload(taking: ImportContext, read: Read) -> dict[str, str]:
    """What the event of a record's making says of the import: whose row it was.

    By it a batch that was cut off is recognised as one's own, and a second row of one id as a
    double (`idp/transfer/jobs/import_origin.py`).
    """
    return {"import": taking.job.id, "row": str(read.row.number)}
