"""Hostile JSON at every field of every endpoint: 400 with the field's path, nothing written."""

from __future__ import annotations

import json
import re

import pytest

from idp.records import EVENTS, INSTANCE_ID, INSTANCES, JOBS, PACKAGE_PARTS
from idp.schema.reading import Request, declared
from idp.transfer.calls.imports import PackageDocument
from tests.support.management.api_samples import CALLS, address, bodies, filled, leaves
from tests.support.management.callers import refused
from tests.support.slices import one_in
from tests.support.store.stored import everything

HOSTILE = [
    "null",
    "true",
    "0",
    "-1",
    "1.5",
    "1e400",
    "-1e400",
    "NaN",
    "Infinity",
    "9" * 25,
    "9" * 5000,
    "[]",
    '["x"]',
    "[[[]]]",
    "{}",
    '{"$gt":""}',
    '{"$ne":null}',
    '{"__proto__":{}}',
    '{"a":1,"a":2}',
    r'"\u0000"',
    r'"\ud800"',
    r'"a\udfffb"',
    "[" * 100 + "]" * 100,
    '"' + "x" * 10_001 + '"',
]
HUGE = '"' + "x" * 1_000_000 + '"'  # once in each body: reading it takes long
PRIVILEGED = ["id", "_id", "sequence", "stamp", "state", "resourceOwner", "isAdmin", "orgId"]
PRIVILEGED += ["secretHash", "createdAt", "kind", "loginKey", "__proto__", "$set", "a.b", ""]
BODIES = [(name, n) for name, call in CALLS.items() for n in range(len(bodies(call)))]
SOME_BODIES = one_in(10, BODIES)  # one reader reads them all


@pytest.fixture
def sample(io_loop, server):
    """A sample's body, as it is sent to this server."""
    instance = io_loop.run_sync(lambda: server.store.get(INSTANCES, INSTANCE_ID))

    def sample(call, n):
        named = {"org": instance.org_id, "issuer": server.issuer, "n": n, "member": "nobody"}
        return filled(bodies(CALLS[call])[n], **named)

    return sample


def replaced(body, path, octets):
    """The body as JSON with the value at `path` replaced by `octets`."""
    if not path:
        return octets.encode()
    holder, *names = json.loads(json.dumps(body)), *re.findall(r"[^.\[\]]+", path)
    parent = holder
    for name in names[:-1]:
        parent = parent[int(name) if isinstance(parent, list) else name]
    parent[int(names[-1]) if isinstance(parent, list) else names[-1]] = "@@"
    return json.dumps(holder).replace('"@@"', octets).encode()


def is_fine(path, value, octets):
    """Whether `octets` is a value that the leaf may have, as what it holds tells; any text may be
    an id or a key, and whatever a list of organizations holds is told row by row."""
    if path.endswith(("Ids", "Keys")) and octets == '["x"]':
        return True
    if path.endswith(".orgs") and octets.startswith("["):
        return True
    if re.search(r"\.mapping\.\w+$", path) and octets in ("[]", '["x"]'):
        return True  # a list of claims
    return octets in {bool: ["true"], int: ["0"], list: ["[]"], dict: ["{}"]}.get(type(value), ())


async def stored_records(store, call):
    """What is stored; of an import, but the job by which a large package is found to be none, and
    its package: they are kept for whoever sent it."""
    found = await everything(store)
    if call != "POST /admin/v1/import":
        return found
    for name in (JOBS.name, PACKAGE_PARTS.name):
        found.pop(name)
    found[EVENTS.name] = {
        id: event for id, event in found[EVENTS.name].items() if event.collection != JOBS.name
    }
    return found


@pytest.mark.full
@pytest.mark.parametrize(("call", "n"), SOME_BODIES)
async def test_a_hostile_value_is_refused_by_its_path(server, owner, sample, call, n):
    body = sample(call, n)
    before = await stored_records(server.store, call)
    for position, (path, value) in enumerate(leaves(body)):
        for octets in HOSTILE if position else [*HOSTILE, HUGE]:
            if is_fine(path, value, octets):
                continue
            hostile = replaced(body, path, octets)
            page = await owner.request(CALLS[call].method, address(CALLS[call]), hostile)

            fields = refused(page, 400, 3)
            assert all(one.startswith(path) for one in fields), (path, octets[:40], page.text)
    assert await stored_records(server.store, call) == before


@pytest.mark.full
@pytest.mark.parametrize(("call", "n"), SOME_BODIES)
async def test_unknown_and_privileged_fields_are_refused_in_every_object(
    server, owner, sample, call, n
):
    body = sample(call, n)
    before = await everything(server.store)
    for path in objects(body):
        for name in PRIVILEGED:
            if name in at(body, path):
                continue
            changed = json.loads(json.dumps(body))
            at(changed, path)[name] = "x"
            page = await owner.request(CALLS[call].method, address(CALLS[call]), changed)

            fields = refused(page, 400, 3)
            assert fields
            assert all(one.startswith(".".join(path)) for one in fields), (path, name)
    assert await everything(server.store) == before


def objects(value, path=()):
    """The paths of the objects in a body (those in lists aside)."""
    if isinstance(value, dict):
        yield path
        for name, each in value.items():
            yield from objects(each, (*path, name))


def at(value, path):
    for name in path:
        value = value[name]
    return value


@pytest.mark.parametrize("call", [name for name, one in CALLS.items() if one.request])
def test_the_samples_name_every_field(call):
    sent = [leaves(body) for body in bodies(CALLS[call])]
    named = {re.sub(r"\[\d+\]", "", path) for each in sent for path, _ in each}

    assert {path for path in every_field(CALLS[call].request) if path not in named} == set()


def every_field(kind, path=""):
    """The path of each declared field that holds no other."""
    if not declared(kind):
        yield path.rstrip(".")
    for one in declared(kind):
        inner = one.type
        if getattr(inner, "__args__", None):
            inner = inner.__args__[0]
        if isinstance(inner, type) and issubclass(inner, Request):
            yield from every_field(inner, f"{path}{one.wire_name}.")
        elif isinstance(one.rule, PackageDocument):  # any document: its rows are judged one by one
            yield f"{path}{one.wire_name}.orgs"
        else:
            yield f"{path}{one.wire_name}"
