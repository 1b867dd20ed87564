"""Dry runs: the report of the real run, and a store that is as it was."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

from idp.records import JOBS
from idp.transfer.jobs import lifecycle as job_lifecycle
from idp.transfer.jobs import runner as job_runner
from storage import Update
from tests.support.store.stored import everything
from tests.support.transfer.packaged import Packaged, done, held, made, problems, stored

NAMES = st.sampled_from(["Acme", "acme", "Beta", "Gamma", "", " ", 7, None, "x" * 201])
PERSON = st.fixed_dictionaries(
    {
        "userId": st.sampled_from(["u1", "u2", "u3", "u|4", ""]),
        "user": st.fixed_dictionaries(
            {
                "userName": st.sampled_from(["ada", "Ada", "bob", "", "eve@acme.localhost"]),
                "profile": st.just({"firstName": "A", "lastName": "B"}),
                "email": st.fixed_dictionaries(
                    {
                        "email": st.sampled_from(["a@x.example", "b@x.example", "nobody"]),
                        "isEmailVerified": st.booleans(),
                    }
                ),
            }
        ),
    }
)
ORG = st.fixed_dictionaries(
    {"orgId": st.sampled_from(["a", "b", "c", "x" * 201])},
    optional={
        "org": st.fixed_dictionaries({"name": NAMES}),
        "humanUsers": st.lists(PERSON, max_size=4),
        "teapots": st.just([{"id": 1}]),
    },
)


async def report(service, job):
    """All that is told of a job, but for its own name and times."""
    found = [
        structs.asdict(structs.replace(one, id="", job_id=""))
        for one in await problems(service, job)
    ]
    counts = (job.total, job.position, job.created, job.updated, job.skipped, job.failed)
    return found, await made(service, job), counts, job.warned, job.state


def but_jobs(found):
    ours = {JOBS.name, "job_problems", "job_batches"}
    events = {id: one for id, one in found["events"].items() if one.collection != JOBS.name}
    return {name: each for name, each in found.items() if name not in ours} | {"events": events}


async def predicted(server, orgs, **options):
    """What a dry run told, and that it changed nothing; what the real run told then."""
    before = but_jobs(await everything(server.store))
    dry = await done(server.service, *orgs, is_dry_run=True, **options)
    assert but_jobs(await everything(server.store)) == before
    real = await done(server.service, *orgs, **options)
    return await report(server.service, dry), await report(server.service, real)


@pytest.mark.parametrize("updates", [False, True])
async def test_a_dry_run_reports_what_the_real_run_reports(server, updates):
    orgs = [
        {"orgId": "a", "org": {"name": "Acme"}},
        {"orgId": "b", "org": {"name": "acme"}},
        {"orgId": "a", "org": {"name": "Other"}},
        {"orgId": "c", "org": {"name": ""}},
    ]
    dry, real = await predicted(server, orgs, updates=updates)

    assert dry == real
    assert dry[2] == (4, 4, 1, 0, 0, 3)


@pytest.mark.promise("import: dry run")
@pytest.mark.full
def test_what_is_predicted_comes_to_pass_whatever_the_package(server, io_loop):
    seen = set()

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(ORG, min_size=1, max_size=4), st.booleans())
    def holds(orgs, updates):
        dry, real = io_loop.run_sync(lambda: predicted(server, orgs, updates=updates))
        assert dry == real
        seen.add(dry[2][2] > 0)

    holds()
    assert seen


async def test_a_dry_run_that_was_cut_off_begins_anew(server):
    orgs = [{"orgId": f"o{n}", "org": {"name": "Same" if n % 2 else f"N{n}"}} for n in range(8)]
    whole = await done(server.service, *orgs, is_dry_run=True)
    hold = await held(server.service, is_dry_run=True)
    turns = iter([False, False, True])
    await job_runner.work(
        server.service, hold, lambda *_: Packaged(*orgs), size=2, is_stopping=lambda: next(turns)
    )
    await server.store.commit(Update(JOBS, hold.job.id, set={"held_until": None}))

    again = await job_lifecycle.claim(
        server.service, await stored(server.service, hold.job), "there"
    )
    left = await done(server.service, *orgs, hold=again)

    found, told = await report(server.service, left), await report(server.service, whole)
    assert (found[0], found[2:]) == (told[0], told[2:])
