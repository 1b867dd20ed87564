"""`python -m benchmarks.latency`: the duration of requests with MongoDB at a network distance."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from math import inf
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.latency.flows import RequestSender, Times
from benchmarks.storage import places
from benchmarks.tables import aligned
from tests.support.programs.program import Program
from tests.support.servers.mongod import fresh_database
from tests.support.servers.store_commands import slowed

DELAYS: Final = (0, 30, 80)  # milliseconds by which the answer of each command is later
ASKED_AT: Final = 30


class Limit(NamedTuple):
    """A limit of a p50: milliseconds, or so many delays over what it is without one; the lower
    counts."""

    milliseconds: float = inf
    trips: float = inf

    def of(self, undelayed: float) -> float:
        return min(self.milliseconds, undelayed + self.trips * ASKED_AT)


ASKED: Final = {
    "whole sign-in": Limit(1200),
    "password step": Limit(400),
    "create user": Limit(300),
    "create user, 24 in flight": Limit(600),
    "introspection": Limit(trips=2),
}
WISHED: Final = {
    "whole sign-in": Limit(800, trips=14.5),
    "create user, 24 in flight": Limit(400),
    "introspection": Limit(trips=1.1),
}
_PAT: Final = "admin.pat"
_SETTINGS: Final = {"IDP_KNOWN_NETWORKS": "127.0.0.0/8", "IDP_TRUSTED_PROXIES": "127.0.0.0/8"}
TimesByFlow = dict[str, Times]


class Delay:
    """The seconds by which the proxy delays each answer."""

    def __init__(self) -> None:
        self.seconds = 0.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures at each delay; returns 1 if a target is missed."""
    options = _parser().parse_args(arguments)
    with ExitStack() as stack:
        place = stack.enter_context(places.directory(options.directory))
        server = stack.enter_context(places.server(options.mongodb))
        url = stack.enter_context(fresh_database(server))
        times_by_delay = asyncio.run(_measured(url, place, options.count))
    _show(times_by_delay)
    wishes = _missed(times_by_delay, WISHED)
    if wishes:
        print(f"\nnot as wished: {', '.join(wishes)}")
    missed = _missed(times_by_delay, ASKED)
    print(f"\nmissed: {', '.join(missed)}" if missed else "\nevery target is met")
    return 1 if missed else 0


async def _measured(url: str, place: Path, count: int) -> dict[int, TimesByFlow]:
    """Returns the times of each flow, by delay. The proxy runs in this process."""
    delay = Delay()
    async with slowed(url, delay) as proxied:
        flags = ["--admin-pat", _PAT, "--store", proxied]
        program = await asyncio.to_thread(Program(place, *flags, **_SETTINGS).start)
        try:
            token = (place / _PAT).read_text().strip()
            sender = RequestSender(program.demo(), token, program.user)
            await _all_flows(sender, 2)  # the process is warm afterwards
            times_by_delay = {}
            for milliseconds in DELAYS:
                delay.seconds = milliseconds / 1000
                times_by_delay[milliseconds] = await _all_flows(sender, count)
        finally:
            delay.seconds = 0.0
            program.kill()
    return times_by_delay


async def _all_flows(sender: RequestSender, count: int) -> TimesByFlow:
    return {
        **await sender.signed_in(count),
        **await sender.created(count),
        **await sender.introspected(count),
    }


def _show(times_by_delay: dict[int, TimesByFlow]) -> None:
    heads = [f"{delay} ms: {name}" for delay in DELAYS for name in ("p50", "p99")]
    rows = [["", *heads]]
    for flow in times_by_delay[0]:
        times = [times_by_delay[delay][flow] for delay in DELAYS]
        rows.append([flow, *(f"{figure:.0f}" for figures in times for figure in figures)])
    print(aligned(rows))


def _missed(times_by_delay: dict[int, TimesByFlow], limits: Mapping[str, Limit]) -> list[str]:
    """Returns the flows that take longer than their limits, with both."""
    undelayed, delayed = times_by_delay[0], times_by_delay[ASKED_AT]
    limit_of = {flow: limit.of(undelayed[flow].p50) for flow, limit in limits.items()}
    return [
        f"{flow} ({delayed[flow].p50:.0f} ms, limit {limit:.0f})"
        for flow, limit in limit_of.items()
        if delayed[flow].p50 > limit
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.latency", description=__doc__)
    parser.add_argument("--count", type=int, default=40, help="of each flow, at each delay")
    parser.add_argument("--mongodb", help="URL of a replica set; by default one is started")
    parser.add_argument("--directory", type=Path, help="where the service's data is")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
