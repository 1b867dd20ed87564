"""Rows of a package taken in, kind by kind as an import does, without its job."""

from __future__ import annotations

from msgspec import structs

from idp import requests
from idp.records import ORGANIZATIONS, Job, JobOptions
from idp.transfer.kinds import KINDS
from idp.transfer.kinds.kind import Taking, Telling
from idp.transfer.rows import Prepared, Problem, Read, Row


def taking(server, *, updates: bool = False, job: str = "job") -> Taking:
    now = server.clock.now()
    made = Job(
        id=job,
        state="running",
        actor="importer",
        created_at=now,
        changed_at=now,
        options=JobOptions(updates=updates),
    )
    return Taking(service=server.service, job=made)


async def brought(server, *orgs: dict, updates: bool = False, job: str = "job") -> list[Prepared]:
    """What became of each row; what can be stored is stored."""
    import_ = taking(server, updates=updates, job=job)
    outcomes, number = [], 0
    for kind in KINDS:
        for at, org in enumerate(orgs):
            for path, document in _rows(kind, org, at):
                number += 1
                row = Row(
                    number=number,
                    path=path,
                    member=kind.member,
                    org_id=org["orgId"],
                    document=document,
                )
                outcomes.append(await _one(import_, kind, row))
    return outcomes


def _rows(kind, org, at):
    found = org.get(kind.member)
    if kind.is_single and found is not None:
        yield f"orgs[{at}].{kind.member}", found
    elif found:
        for n, each in enumerate(found):
            yield f"orgs[{at}].{kind.member}[{n}]", each


async def _one(import_, kind, row) -> Prepared:
    """One row, judged and stored; what could not be read of it fails it, but unknown members."""
    if kind.prepare is None:
        return Prepared(action="skip", id="", problems=(_unsupported(kind),))
    document, eased = kind.ease(row.document) if kind.ease else (row.document, [])
    request, problems = requests.collect(kind.request, document)
    told = tuple(
        Problem(
            slug=each.slug,
            field=each.field,
            message=each.message,
            is_error=each.slug != "field.unknown",
        )
        for each in problems
    )
    if any(each.is_error for each in told):
        return Prepared(action="fail", id="", problems=told)
    (prepared,) = await kind.prepare(import_, [Read(row, request)])
    (failed,) = (
        await import_.service.store.commit_each([prepared.writes]) if prepared.writes else [None]
    )
    assert failed is None, failed
    return structs.replace(prepared, problems=(*eased, *told, *prepared.problems))


def _unsupported(kind) -> Problem:
    return Problem(slug="import.unsupported", message=kind.unsupported, is_error=False)


async def told_org(server, org_id: str, **options) -> dict:
    """What an export tells of one organization, member by member."""
    async with server.store.snapshot() as view:
        telling = Telling(service=server.service, view=view, **options)
        organization = await view.get(ORGANIZATIONS, org_id)
        found = {"orgId": org_id}
        for kind in KINDS:
            rows = [each async for each in kind.tell(telling, organization)] if kind.tell else []
            if rows:
                found[kind.member] = rows[0] if kind.is_single else rows
        return found
