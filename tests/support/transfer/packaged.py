"""Packages that are held in memory, and jobs over them."""

from __future__ import annotations

from idp.records import JOB_BATCHES, JOB_PROBLEMS, JOBS, JobOptions
from idp.transfer.jobs import lifecycle as job_lifecycle
from idp.transfer.jobs import runner as job_runner
from idp.transfer.kinds import BY_MEMBER
from idp.transfer.package.rows import Row
from tests.support import patience


class Packaged:
    """A package of the same shape as one from a file; unknown lists come last."""

    def __init__(self, *orgs: dict, beside=None) -> None:
        self.envelope_options = beside or {}
        members = dict.fromkeys([*BY_MEMBER, *(name for org in orgs for name in org)])
        found = [
            (name, org["orgId"], path, document)
            for name in members
            if name != "orgId"
            for at, org in enumerate(orgs)
            for path, document in _documents(name, org.get(name), at)
        ]
        self.rows = [
            Row(number=number, member=member, org_id=org_id, path=path, document=document)
            for number, (member, org_id, path, document) in enumerate(found, 1)
        ]

    @property
    def total(self):
        return len(self.rows)

    def batches(self, skip, size):
        batch = []
        for row in self.rows[skip:]:
            if batch and (len(batch) == size or batch[0].member != row.member):
                yield batch
                batch = []
            batch.append(row)
        if batch:
            yield batch


def _documents(name, found, at):
    if isinstance(found, list):
        yield from ((f"orgs[{at}].{name}[{n}]", each) for n, each in enumerate(found))
    elif found is not None:
        yield f"orgs[{at}].{name}", found


async def held(service, *, holder="here", source="/nowhere", **options):
    """A new job that this process holds."""
    job = job_lifecycle.new(
        service, "importer", JobOptions(**options), holder=holder, source=source
    )
    await job_lifecycle.begin(service, job)
    return job_lifecycle.Hold(service, job)


async def done(service, *orgs, size=3, hold=None, beside=None, **options):
    """A job that has worked through these organizations; with the barrier `beside` it begins with
    them when others do."""
    hold = hold or await held(service, **options)

    def opened(*_):
        if beside is not None:
            beside.wait(patience.SECONDS)
        return Packaged(*orgs)

    return await job_runner.work(service, hold, opened, size=size)


async def problems(service, job):
    """The reported problems of a job's rows, in their order."""
    page = await service.store.find(JOB_PROBLEMS, {"job_id": job.id}, order="key", limit=1000)
    return page.records


async def made(service, job):
    page = await service.store.find(JOB_BATCHES, {"job_id": job.id}, order="first", limit=1000)
    return [one for batch in page.records for one in batch.made]


async def stored(service, job):
    return await service.store.get(JOBS, job.id)
