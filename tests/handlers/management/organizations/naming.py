"""Domains as tests name and prove them, and the TXT records that are published.

Fixtures::

    owner    the instance's owner
    acme     an organization
    chief    its owner
    zone     the TXT records
"""

from __future__ import annotations

import pytest

from tests.support.callers import instance_owner, new_caller, new_organization

PATH = "/management/v1/orgs/me/domains"
DNS = {"type": "DOMAIN_VALIDATION_TYPE_DNS"}


class Zone:
    """TXT records as they are published."""

    def __init__(self, server):
        self.texts, self.asked = {}, []
        server.service.outgoing._read_texts = self.read

    async def read(self, name):
        self.asked.append(name)
        return self.texts.get(name, [])


async def named(caller, domain, **headers):
    page = await caller.post(PATH, {"domain": domain}, **headers)
    assert page.status == 200, page.text
    return page


async def challenged(caller, domain, zone, **headers):
    """The domain, named, with its token published."""
    await named(caller, domain, **headers)
    page = await caller.post(f"{PATH}/{domain}/validation/_generate", DNS, **headers)
    answer = page.json()
    zone.texts[answer["url"]] = ["v=spf1 -all", answer["token"]]


async def validated(caller, domain, **headers):
    return await caller.post(f"{PATH}/{domain}/validation/_validate", {}, **headers)


async def proven(caller, domain, zone, **headers):
    await challenged(caller, domain, zone, **headers)
    page = await validated(caller, domain, **headers)
    assert page.status == 200, page.text


async def found(caller, body=None):
    page = await caller.post(f"{PATH}/_search", body or {})
    assert page.status == 200, page.text
    return [
        (each["domainName"], each.get("isVerified", False), each.get("isPrimary", False))
        for each in page.json().get("result", [])
    ]


@pytest.fixture
def owner(io_loop, server, visitor):
    return io_loop.run_sync(lambda: instance_owner(server, visitor))


@pytest.fixture
def acme(io_loop, server):
    return io_loop.run_sync(lambda: new_organization(server, "acme.example"))


@pytest.fixture
def chief(io_loop, server, visitor, acme):
    return io_loop.run_sync(lambda: new_caller(server, visitor, acme, "ORG_OWNER"))


@pytest.fixture
def zone(server):
    return Zone(server)
