"""Domains as tests name and prove them, and the TXT records that are published."""

from __future__ import annotations

PATH = "/management/v1/orgs/me/domains"
DNS = {"type": "DOMAIN_VALIDATION_TYPE_DNS"}


class Zone:
    """TXT records as they are published."""

    def __init__(self, server):
        self.texts, self.asked = {}, []
        server.service.outgoing._read_txt_records = self.read

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


async def verify_domain(caller, domain, zone, **headers):
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
