"""A domain is proven by what only its owner can publish there."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.management.organizations import domain_verification
from idp.outgoing.failures import Failed
from idp.records import DOMAINS, Challenge, new_domain
from tests.handlers.management.organizations.naming import (
    DNS,
    PATH,
    challenged,
    found,
    named,
    validated,
)
from tests.support.management.callers import Caller, new_organization, refused
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything

HTTP = {"type": "DOMAIN_VALIDATION_TYPE_HTTP"}


async def test_a_domain_is_verified_by_a_record_beside_it(server, chief, zone):
    await named(chief, "b.example")
    page = await chief.post(f"{PATH}/b.example/validation/_generate", DNS)
    name, token = page.json()["url"], page.json()["token"]
    too_early = await validated(chief, "b.example")
    zone.texts[name] = [f" {token} "]
    verified = await validated(chief, "b.example")

    assert name == "_idp-challenge.b.example"
    assert zone.asked == [name, name]
    assert refused(too_early, 400, 9) == {"": "domain.not_proven"}
    assert verified.status == 200
    assert ("b.example", True, False) in await found(chief)
    await events_agree(server.store)


class Web:
    """A web server of a domain: answers what it is told."""

    def __init__(self, server, monkeypatch):
        self.answer, self.heard = b"", []
        self._server, self._monkeypatch = server, monkeypatch

    async def __aenter__(self):
        self._listening = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        port = self._listening.sockets[0].getsockname()[1]
        plain = domain_verification.FILE.replace("https://{domain}", f"http://{{domain}}:{port}")
        self._monkeypatch.setitem(domain_verification._LOCATIONS, "http", plain)

        async def here(*_):
            return ["127.0.0.1"]

        self._server.service.outgoing._resolve = here
        return self

    async def __aexit__(self, *_):
        self._listening.close()
        await self._listening.wait_closed()

    async def _answer(self, reader, writer):
        self.heard.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(self.answer)
        await writer.drain()
        writer.close()


@pytest.mark.parametrize(
    ("answer", "is_proven"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 22\r\n\r\nTOKEN", True),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n16\r\nTOKEN\r\n0\r\n\r\n", True),
        (b"HTTP/1.0 200 OK\r\n\r\n  TOKEN\n", True),
        (b"HTTP/1.1 404 Not Found\r\n\r\nTOKEN", False),
        (b"HTTP/1.1 302 Found\r\nLocation: /TOKEN\r\n\r\nTOKEN", False),
        (b"HTTP/1.1 200 OK\r\n\r\n<p>TOKEN.txt is not here</p>", False),
        (b"HTTP/1.1 200 OK\r\nX: TOKEN\r\n\r\n", False),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 10_000 + b"\nTOKEN", False),
        (b"TOKEN\n", False),
        (b"", False),
    ],
)
async def test_a_domain_is_verified_by_a_file_on_its_web_server(
    server, chief, monkeypatch, answer, is_proven
):
    async with Web(server, monkeypatch) as web:
        await named(chief, "b.example")
        page = await chief.post(f"{PATH}/b.example/validation/_generate", HTTP)
        web.answer = answer.replace(b"TOKEN", page.json()["token"].encode())
        before = await everything(server.store)
        answered = await validated(chief, "b.example")

    path = f"/.well-known/idp-challenge/{page.json()['token']}.txt"
    assert page.json()["url"].endswith(path)
    assert web.heard[0].startswith(f"GET {path} HTTP/1.1\r\nHost: b.example:")
    if is_proven:
        assert answered.status == 200, answered.text
    else:
        assert refused(answered, 400, 9) == {"": "domain.not_proven"}
        after = await everything(server.store)
        assert {**after, "counters": None} == {**before, "counters": None}


async def test_a_file_is_looked_for_over_https_at_the_domain_alone(chief):
    await named(chief, "b.example")
    page = await chief.post(f"{PATH}/b.example/validation/_generate", HTTP)

    assert page.json()["url"].startswith("https://b.example/.well-known/idp-challenge/")


async def test_what_fails_outside_is_not_revealed_to_the_caller(server, chief, zone):
    await challenged(chief, "b.example", zone)

    async def fail(_):
        raise Failed("10.0.0.7 refused")

    server.service.outgoing._read_txt_records = fail
    page = await validated(chief, "b.example")

    assert refused(page, 400, 9) == {"": "domain.not_proven"}
    assert "10.0.0.7" not in page.text


async def test_without_a_token_or_with_another_one_nothing_is_verified(server, chief, zone):
    await named(chief, "b.example")
    none = await validated(chief, "b.example")
    first = await chief.post(f"{PATH}/b.example/validation/_generate", DNS)
    await chief.post(f"{PATH}/b.example/validation/_generate", DNS)
    zone.texts[first.json()["url"]] = [first.json()["token"]]
    stale = await validated(chief, "b.example")

    assert refused(none, 400, 9) == {"": "domain.no_challenge"}
    assert refused(stale, 400, 9) == {"": "domain.not_proven"}
    assert ("b.example", False, False) in await found(chief)


async def test_a_token_that_is_replaced_during_the_look_verifies_nothing(server, chief, zone):
    await challenged(chief, "b.example", zone)
    texts = zone.texts["_idp-challenge.b.example"]

    async def slow(_):
        await chief.post(f"{PATH}/b.example/validation/_generate", DNS)
        return texts

    server.service.outgoing._read_txt_records = slow
    page = await validated(chief, "b.example")

    assert refused(page, 400, 9) == {"": "domain.not_proven"}


async def test_a_verified_domain_needs_no_verification(server, chief):
    before = await everything(server.store)
    again = await validated(chief, "acme.example")
    token = await chief.post(f"{PATH}/acme.example/validation/_generate", DNS)

    assert refused(again, 400, 9) == refused(token, 400, 9) == {"": "domain.verified"}
    assert await everything(server.store) == before


async def test_looks_at_domains_are_limited(server, chief, zone):
    await named(chief, "b.example")
    await chief.post(f"{PATH}/b.example/validation/_generate", DNS)
    pages = [await validated(chief, "b.example") for _ in range(11)]

    assert [page.status for page in pages] == [400] * 10 + [429]
    assert pages[-1].headers["Retry-After"] == "60"
    assert len(zone.asked) == 10
    server.clock.advance(timedelta(seconds=61))
    assert (await validated(chief, "b.example")).status == 400


async def challenge(server, org_id, domain):
    """Let an organization name the domain; its token is its id."""
    random, now = server.service.random, server.clock.now()
    made = new_domain(org_id, domain, now)
    made.challenge = Challenge(kind="dns", token=org_id)
    writes = events.insertion(random, DOMAINS, made, AuditEntry("domain.created", "a test", now))
    await server.store.commit(*writes)


async def race(server, owner, new_visitor, zone, rounds):
    """In each round 32 organizations have published their tokens for one domain."""
    homes = [await new_organization(server, f"r{n}.example") for n in range(32)]
    callers = {home.id: Caller(new_visitor(), owner.token) for home in homes}
    for n in range(rounds):
        domain = f"wanted{n}.example"
        server.clock.advance(timedelta(seconds=10))
        for id in callers:
            await challenge(server, id, domain)
        zone.texts[f"_idp-challenge.{domain}"] = list(callers)
        pages = await asyncio.gather(
            *[validated(caller, domain, x_idp_orgid=id) for id, caller in callers.items()]
        )
        assert sorted(page.status for page in pages) == [200] + [409] * 31
        losers = [refused(page, 409, 6) for page in pages if page.status == 409]
        assert losers == [{"": "organization.domain_taken"}] * 31
    await events_agree(server.store)


async def test_of_thirty_two_who_verify_one_domain_one_gets_it(server, owner, new_visitor, zone):
    await race(server, owner, new_visitor, zone, 1)


@pytest.mark.load
@pytest.mark.gen_test(timeout=600)
async def test_of_thirty_two_who_verify_one_domain_one_gets_it_each_time(
    server, owner, new_visitor, zone
):
    await race(server, owner, new_visitor, zone, 200)
