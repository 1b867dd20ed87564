"""Packages that are sent, and the jobs that import them."""

from __future__ import annotations

import msgspec

IMPORT = "/admin/v1/import"
JOBS = "/admin/v1/jobs"


def orgs(n, name="Org", first=0):
    """This number of organizations in the form of a package."""
    return [{"orgId": f"o{i}", "org": {"name": f"{name} {i}"}} for i in range(first, first + n)]


def package(*found, **beside):
    return {"dataOrgs": {"orgs": list(found)}, **beside}


def large(n=1500, **beside):
    """A package that is too large to be done in passing, encoded."""
    found = [
        {"orgId": f"o{i}", "org": {"name": f"{i}{'x' * 150}", "primaryDomain": f"o{i}.example"}}
        for i in range(n)
    ]
    data = msgspec.json.encode(package(*found, **beside))
    assert len(data) > 256 * 1024
    return data


async def imported(owner, document, **headers):
    """The answer to an accepted import."""
    page = await owner.post(IMPORT, document, **headers)
    assert page.status == 200, page.text
    return page.json()
