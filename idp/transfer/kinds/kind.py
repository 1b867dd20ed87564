"""The description of a kind of rows: its name in a package, and how a row is read, stored and
exported.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

from msgspec import Struct

from idp.foundation import base64url
from idp.records import Organization, Policy
from idp.records.jobs import Job
from idp.schema.reading import Request
from idp.service import Service
from idp.transfer.package.rows import ParsedRow, RowPlan, RowProblem
from storage import Reader


class ImportContext(Struct, frozen=True):
    """The import that rows are planned for: its job, and the service that stores them.

    `service.store` may be an overlay over the real store: the writes of a dry run stay in it.
    """

    service: Service
    job: Job

    @property
    def actor(self) -> str:
        """The id of the user who started the import, whom the audit log names."""
        return self.job.actor

    @property
    def updates(self) -> bool:
        """Whether existing records are updated; otherwise they are skipped."""
        return self.job.options.updates


class ExportContext(Struct, frozen=True):
    """The export that rows are written for.

    `view` reads one consistent state of the store. `policies` are the own policies and texts of
    the organization whose rows are written, which several kinds export. `with_passwords` and
    `with_otp` select the secrets that the rows include (`ExportSelection`).
    """

    service: Service
    view: Reader
    policies: Sequence[Policy] = ()
    with_passwords: bool = False
    with_otp: bool = False


RequestType = type[Request]
Adapt = Callable[[object], tuple[object, list[RowProblem]]]
PlanRows = Callable[[ImportContext, Sequence[ParsedRow]], Awaitable[list[RowPlan]]]
ExportRows = Callable[[ExportContext, Organization], AsyncIterator[dict[str, Any]]]


class RowKind(Struct, frozen=True, kw_only=True):
    """A kind of rows: one list of an organization in a package.

    `member` is the list's name there (`humanUsers`), `type` the name of one row in reports
    (`human_user`), and `request` the struct of a row. `name` returns the name in reports of a row
    whose document is not valid. `identity` are the members of a row by which two rows of a package
    describe the same record.

    `adapt`, if given, adapts a document of another system to what this service can store, with a
    warning for each loss (`idp/transfer/package/lossy_import.py`).

    `plan` plans a batch of rows of this kind, of any organizations, with few round trips, and
    returns their plans in the same order. It reads the store and, except for new signing keys,
    writes nothing: the plans hold the writes. A row whose writes conflict with others (Conflict,
    Stale) is planned again. Every record that a plan creates has an event with the payload
    `import_payload`, and its id is the row's or `own_id`. A plan for an existing record names it
    in `RowPlan.existing`.

    `export` yields an organization's rows in a stable order; an import of them stores the same
    records again. A kind with `is_single` is one object, not a list. Rows of a kind with
    `is_independent` do not refer to others of that kind. `unsupported` is the reason why rows of a
    kind are not imported; `plan` is then None.
    """

    member: str
    type: str
    request: RequestType | None = None
    name: Callable[[Any], str] = lambda _: ""
    identity: tuple[str, ...] = ()
    adapt: Adapt | None = None
    plan: PlanRows | None = None
    export: ExportRows | None = None
    is_single: bool = False
    is_independent: bool = False
    unsupported: str = ""


def own_id(context: ImportContext, parsed: ParsedRow) -> str:
    """Returns an id for the record of a row that states none, derived from the job and the row's
    number.

    It is the same whenever the row is processed again, so that an interrupted batch recognizes its
    own records.
    """
    digest = hashlib.sha256(f"{context.job.id}.{parsed.row.number}".encode()).digest()
    return base64url.encode(digest[:16])


def import_payload(context: ImportContext, parsed: ParsedRow) -> dict[str, str]:
    """Returns the part of a creation event's payload that names the import: its job and the row.

    By it, an interrupted batch recognizes its own records, and a second row of one id is
    recognized as a duplicate (`idp/transfer/jobs/import_origin.py`).
    """
    return {"import": context.job.id, "row": str(parsed.row.number)}
