"""The servers of a run, each filled and ready to be asked."""

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
from benchmarks.protocol.party import SCOPE, Party
from benchmarks.protocol.processes import Server, python, started, workers
from benchmarks.protocol.scenarios import Scenario, sign_in
from idp.config.settings import Config
from idp.foundation import base64url
from tests.interop import node

OIDC_PROVIDER: Final = Path(__file__).parent / "oidc_provider"


class Place(Struct, frozen=True):
    """A server, and what it can be asked."""

    server: Server
    party: Party


@contextmanager
def service(
    directory: Path, store: str, processes: int, count: int, module: str = "idp"
) -> Iterator[Place]:
    """The service over this store (empty: SQLite in the directory), as `idp serve` starts it."""
    data = directory / "data"
    flags = ["serve", "--json", "--port", "0", "--data", str(data)]
    flags += ["--processes", str(processes)]
    variables = {"IDP_LOG_FORMAT": "json", "IDP_STORE": store}
    variables["IDP_KNOWN_NETWORKS"] = "127.0.0.0/8"  # the load comes from one address
    with started(python(module, *flags), directory / "service.log", variables=variables) as run:
        process, start = run
        config = Config(data=str(data), store=start["store"], issuer=start["issuer"])
        quiet = structs.replace(config, store=store or config.store, log_level="error")
        party = asyncio.run(fill(quiet, count))
        port = int(start["issuer"].rpartition(":")[2])
        server = Server("idp", port, workers(process.pid, processes))
        yield Place(server, _signed_in(party, port))


@contextmanager
def oidc_provider(directory: Path, database: str, count: int) -> Iterator[Place]:
    """npm's oidc-provider with its records in this database (empty: in memory).

    Raises node.NoNode.
    """
    found = node.find()
    installed = node.install(found, OIDC_PROVIDER)
    command = [str(found.program), str(installed / "server.js")]
    given = msgspec.json.encode({"count": count, "database": database})
    name = "oidc-provider" if database else "oidc-provider in memory"
    log, variables = directory / "oidc-provider.log", node.environment(found)
    with started(command, log, given=given, variables=variables) as (process, start):
        party = msgspec.convert(start, Party)
        server = Server(name, int(party.host.rpartition(":")[2]), [process.pid])
        yield Place(server, _signed_in(party, server.port))


def _signed_in(party: Party, port: int) -> Party:
    """The same with the tokens of real sign-ins."""
    refresh_tokens = party.refresh_tokens
    if not refresh_tokens:
        offline = [_tokens(party, port, each, f"{SCOPE} offline_access") for each in party.cookies]
        refresh_tokens = [each["refresh_token"] for each in offline]
    online = [_tokens(party, port, each, SCOPE)["access_token"] for each in party.cookies]
    return structs.replace(party, tokens=online, refresh_tokens=refresh_tokens)


def _tokens(party: Party, port: int, cookie: str, scope: str) -> dict[str, Any]:
    return _document(load.once(port, sign_in(party, cookie, scope))[-1])


def _document(answer: bytes) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(answer.partition(b"\r\n\r\n")[2])
    return found


@contextmanager
def bare(
    directory: Path, place: Place, scenarios: Mapping[str, Scenario], processes: int
) -> Iterator[Server]:
    """Bare handlers that answer as the service does; each scenario has addresses of its own."""
    answers = [
        answer
        for name, scenario in scenarios.items()
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
    """What the service answers to the scenario's first flow."""
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
    found: dict[str, Any] = msgspec.json.decode(base64url.decode(token.split(".")[1]))
    return found


def at_bare(name: str, flows: Sequence[Flow]) -> list[Flow]:
    """The same requests for the bare handlers of the scenario."""
    return [
        structs.replace(flow, steps=[_moved(step, name) for step in flow.steps]) for flow in flows
    ]


def _moved(step: Step, name: str) -> Step:
    return structs.replace(step, head=step.head.replace(" /", f" /{name}/", 1))
