"""The servers of a run, each filled and ready for requests."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct, structs

from benchmarks.protocol import load
from benchmarks.protocol.bare import Answer, Bare
from benchmarks.protocol.filling import fill
from benchmarks.protocol.load import Flow, Step
from benchmarks.protocol.party import PASSWORD, SCOPE, Party
from benchmarks.protocol.processes import Server, python, started, workers
from benchmarks.protocol.scenarios import (
    IN_MEMORY,
    OVER_MONGODB,
    OVER_SQLITE,
    Scenario,
    sign_in,
)
from idp.config.settings import Config
from idp.foundation import base64url
from idp.passwords.schemes import argon2
from tests.interop import node

OIDC_PROVIDER: Final = Path(__file__).parent / "oidc_provider"
NODE: Final = 24  # the major version of Node with which SQLite and, since 24.7, argon2id come
_ARGON2ID: Final = {
    "memory": argon2.MEMORY_KIB,
    "passes": argon2.PASSES,
    "parallelism": argon2.LANES,
    "tagLength": argon2.HASH_BYTES,
}


class Place(Struct, frozen=True):
    """A server, and the requests that it answers."""

    server: Server
    party: Party


@contextmanager
def service(
    directory: Path, store: str, processes: int, count: int, module: str = "idp"
) -> Iterator[Place]:
    """Starts the service over this store (empty: SQLite in the directory), as `idp serve` starts
    it."""
    data = directory / "data"
    flags = ["serve", "--json", "--port", "0", "--data", str(data)]
    flags += ["--processes", str(processes)]
    variables = {"IDP_LOG_FORMAT": "json", "IDP_STORE": store}
    variables["IDP_KNOWN_NETWORKS"] = "127.0.0.0/8"  # the load comes from one address
    command, log = python(module, *flags), directory / "service.log"
    with started(command, log, variables=variables):
        pass  # a first start hashes a password, for which its process keeps 19 MB
    with started(command, log, variables=variables) as (process, start):
        config = Config(data=str(data), store=start["store"], issuer=start["issuer"])
        quiet = structs.replace(config, store=store or config.store, log_level="error")
        party = asyncio.run(fill(quiet, count))
        port = int(start["issuer"].rpartition(":")[2])
        server = Server("idp", port, workers(process.pid, processes))
        yield Place(server, _signed_in(party, port))


@contextmanager
def oidc_provider(directory: Path, database: str, count: int) -> Iterator[Place]:
    """Starts npm's oidc-provider with its records in this database: a file of SQLite if it is a
    path, in memory if it is empty.

    Raises node.NoNode.
    """
    node_installation = node.find(NODE)
    installed = node.install(node_installation, OIDC_PROVIDER)
    command = [str(node_installation.program), str(installed / "server.js")]
    order = {"count": count, "database": database, "password": PASSWORD, "argon2id": _ARGON2ID}
    given = msgspec.json.encode(order)
    name = yardstick(database)
    log, variables = directory / f"{name}.log", node.environment(node_installation)
    with started(command, log, given=given, variables=variables) as (process, start):
        party = msgspec.convert(start, Party)
        server = Server(name, int(party.host.rpartition(":")[2]), [process.pid])
        yield Place(server, _signed_in(party, server.port))


def yardstick(database: str) -> str:
    """Returns the name of oidc-provider over this database."""
    if not database:
        return IN_MEMORY
    return OVER_SQLITE if database.startswith("/") else OVER_MONGODB


def _signed_in(party: Party, port: int) -> Party:
    """Returns the same party with the tokens of real sign-ins."""
    refresh_tokens = party.refresh_tokens
    if not refresh_tokens:
        offline = [
            _tokens(party, port, cookie, f"{SCOPE} offline_access") for cookie in party.cookies
        ]
        refresh_tokens = [tokens["refresh_token"] for tokens in offline]
    online = [_tokens(party, port, cookie, SCOPE)["access_token"] for cookie in party.cookies]
    return structs.replace(party, tokens=online, refresh_tokens=refresh_tokens)


def _tokens(party: Party, port: int, cookie: str, scope: str) -> dict[str, Any]:
    return _document(load.once(port, sign_in(party, cookie, scope))[-1])


def _document(answer: bytes) -> dict[str, Any]:
    document: dict[str, Any] = msgspec.json.decode(answer.partition(b"\r\n\r\n")[2])
    return document


@contextmanager
def bare(
    directory: Path, place: Place, scenarios: Mapping[str, Scenario], processes: int
) -> Iterator[Server]:
    """Starts bare handlers that answer as the service does; each scenario has addresses of its
    own."""
    answers = [
        answer
        for name, scenario in scenarios.items()
        if scenario.has_bare
        for answer in _answers(name, scenario, place)
    ]
    with ExitStack() as stack:
        port, pids = 0, []
        for _ in range(processes):
            given = msgspec.json.encode(Bare(answers, port))
            command = python("benchmarks.protocol.bare")
            running = started(command, directory / "bare.log", given=given)
            process, port = stack.enter_context(running)
            pids.append(process.pid)
        yield Server("bare", port, pids)


def _answers(name: str, scenario: Scenario, place: Place) -> Iterator[Answer]:
    """Returns the service's answers to the scenario's first flow."""
    flow = scenario.flows(place.party)[0]
    received = load.once(place.server.port, flow)
    for step, answer in zip(flow.steps, received, strict=True):
        path = f"/{name}{step.head.split(' ')[1].partition('?')[0]}"
        if step.status == 303:
            yield Answer(path, location=_location(answer))
            continue
        document = _document(answer)
        claims = _claims(document[scenario.signed]) if scenario.signed else {}
        yield Answer(path, document, signed=scenario.signed, claims=claims)


def _location(answer: bytes) -> str:
    head = answer.partition(b"\r\n\r\n")[0].decode()
    lines = [line.partition(": ") for line in head.split("\r\n")]
    return next(value for name, _, value in lines if name.lower() == "location")


def _claims(token: str) -> dict[str, Any]:
    claims: dict[str, Any] = msgspec.json.decode(base64url.decode(token.split(".")[1]))
    return claims


def at_bare(name: str, flows: Sequence[Flow]) -> list[Flow]:
    """Returns the same requests for the bare handlers of the scenario."""
    return [
        structs.replace(flow, steps=[_moved(step, name) for step in flow.steps]) for flow in flows
    ]


def _moved(step: Step, name: str) -> Step:
    return structs.replace(step, head=step.head.replace(" /", f" /{name}/", 1))
