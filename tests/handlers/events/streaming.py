"""How tests read the event stream."""

from __future__ import annotations

import re

import msgspec
import pytest

from idp.audit import event_streams, sealing
from tests.support.store.auditing import store_events

PATH = "/v2/events/stream"
NEXT = re.compile(r'<([^>]+)>; rel="next"')


@pytest.fixture(autouse=True)
def polling_often(monkeypatch):
    monkeypatch.setattr(event_streams, "_POLL_SECONDS", 0.01)


@pytest.fixture(name="service")
def service_of_server(server):
    return server.service


async def read(caller, query="", **headers):
    """The events of one answer, and the address of the next one."""
    page = await caller.get(PATH + query, **headers)
    assert page.status == 200, page.text
    assert page.headers["Content-Type"] == "application/x-ndjson"
    events = [msgspec.json.decode(line) for line in page.text.splitlines()]
    return events, NEXT.fullmatch(page.headers["Link"])[1]


async def sealed(service, n: int, type="session.opened", **fields):
    events = await store_events(service, n, type, **fields)
    await sealing.seal(service)
    return events


def id_of(part: str) -> str:
    """The id of the event in a server-sent event."""
    return msgspec.json.decode(part.split("\n")[1].removeprefix("data: "))["id"]
