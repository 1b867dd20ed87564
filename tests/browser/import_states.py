"""The console's pages of imports in every state (see states)."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlsplit

import httpx

from idp.foundation.clock import SystemClock
from idp.records import Job, JobOptions

IMPORTS = "/ui/console/jobs/imports"
PADDING = "x" * 300_000  # beyond what is looked through before there is a job


def sent(program, **body):
    """What an import is answered."""
    answer = httpx.post(
        getattr(program, "listens_at", program.issuer) + "/admin/v1/import",
        json=body,
        headers={
            "Host": urlsplit(program.issuer).netloc,
            "Authorization": f"Bearer {program.announcement['adminPat']}",
        },
        timeout=30,
    )
    return answer.json()


def found(program):
    return sent(
        program,
        dataOrgs={
            "orgs": [
                {"orgId": "acme", "org": {"name": "Acme"}},
                {"orgId": "mouse", "org": {"name": ""}, "humanUsers": [{"userId": "minnie"}]},
            ]
        },
        dryRun=True,
        fix=True,
    )


def listed(person):
    found(person.program)
    job(person.program)
    person.go(IMPORTS)


def with_errors(person):
    person.go(f"{IMPORTS}/{found(person.program)['jobId']}")


def failed(person):
    sent(person.program, dataOrgs={"padding": PADDING, "orgs": 7})
    person.go(IMPORTS)
    person.page.locator("tbody a").first.click()
    person.page.wait_for_selector("dl")


def job(program, **known):
    """The id of a job that another process is at, as its record is."""
    program.jobs = getattr(program, "jobs", 0) + 1
    now = getattr(program, "clock", SystemClock()).now()
    values = {
        "id": f"import-{program.jobs}",
        "state": "running",
        "actor": "command line",
        "created_at": now - timedelta(seconds=70),
        "worked_since": now - timedelta(seconds=60),
        "changed_at": now - timedelta(seconds=1),
        "options": JobOptions(updates=True),
        "total": 100_000,
        "position": 42_000,
        "created": 41_200,
        "updated": 500,
        "skipped": 290,
        "failed": 10,
        "holder": "another process",
        "held_until": now + timedelta(days=1),
    }
    program.put(Job(**values | known))
    return f"import-{program.jobs}"


def under_way(person):
    person.go(f"{IMPORTS}/{job(person.program)}?follow=on")


def cut_off(person):
    file = {"source": "/srv/export.json", "held_until": None}
    person.go(f"{IMPORTS}/{job(person.program, **file)}")


# name of the state: (data-page, whether it reports a problem, the way there)
STATES = {
    "console, imports": ("console/list", False, listed),
    "console, import under way": ("console/show", False, under_way),
    "console, import with errors": ("console/show", False, with_errors),
    "console, import failed": ("console/show", False, failed),
    "console, import cut off": ("console/show", False, cut_off),
}
