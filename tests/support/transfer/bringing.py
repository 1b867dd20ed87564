"""Rows of a package, imported kind by kind without a job."""

from __future__ import annotations

from idp.records import ORGANIZATIONS, Job, JobOptions
from idp.transfer.jobs import batches as job_batches
from idp.transfer.jobs.batches import ProcessedRow
from idp.transfer.kinds import KINDS, export_iteration
from idp.transfer.kinds.kind import ExportContext, ImportContext
from tests.support.transfer.packaged import Packaged


def import_context(server, *, updates: bool = False, job: str = "job") -> ImportContext:
    now = server.clock.now()
    made = Job(
        id=job,
        state="running",
        actor="importer",
        created_at=now,
        changed_at=now,
        options=JobOptions(updates=updates),
    )
    return ImportContext(service=server.service, job=made)


async def brought(
    server, *orgs: dict, updates: bool = False, job: str = "job"
) -> list[ProcessedRow]:
    """Imports the rows; returns the result of each."""
    context = import_context(server, updates=updates, job=job)
    outcomes = []
    for rows in Packaged(*orgs).batches(0, 1000):
        outcomes += await job_batches.process(context, rows)
    return outcomes


async def exported_org(server, org_id: str, **options) -> dict:
    """The members of an export of one organization."""
    async with server.store.snapshot() as view:
        organization = await view.get(ORGANIZATIONS, org_id)
        policies = await export_iteration.own_policies(view, organization)
        context = ExportContext(service=server.service, view=view, policies=policies, **options)
        found = {"orgId": org_id}
        for kind in KINDS:
            rows = (
                [each async for each in kind.export(context, organization)] if kind.export else []
            )
            if rows:
                found[kind.member] = rows[0] if kind.is_single else rows
        return found
