"""Whether the time of a refusal tells which accounts exist, and what is the matter with them."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from statistics import median, quantiles
from typing import Final, NamedTuple

from benchmarks.sign_in.people import KINDS, Administrator
from tests.support.relying_party import RelyingParty
from tests.support.visitor import Visitor

MOST_MILLISECONDS: Final = 5.0
_RESAMPLED: Final = 2000
_WARMING: Final = 20


class Difference(NamedTuple):
    """How much longer a kind of account takes than a wrong password: the 95 % interval of the
    difference of the medians, in milliseconds."""

    kind: str
    median: float
    low: float
    high: float

    @property
    def is_within(self) -> bool:
        """Whether nobody can tell the kind by it."""
        return self.low >= -MOST_MILLISECONDS and self.high <= MOST_MILLISECONDS


async def measured(
    administrator: Administrator, party: RelyingParty, tries: int, seed: int
) -> list[Difference]:
    """The difference of each kind, from so many tries of each, mixed with those of the others."""
    chance = random.Random(seed)  # noqa: S311 - an order, and samples
    queue = [
        (kind, name)
        for kind in KINDS
        for name in administrator.people(kind, KINDS[kind], tries + _WARMING)
    ]
    chance.shuffle(queue)
    took: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for kind, name in queue:
        took[kind].append(await _seconds(party, name, KINDS[kind].given) * 1000)
    return [_difference(kind, took, chance) for kind in KINDS]


async def _seconds(party: RelyingParty, name: str, password: str) -> float:
    """How long the refusal takes, of a browser that has just been opened."""
    visitor = Visitor(party.issuer)
    page = await visitor.open(party.authorize_url())
    page = await visitor.submit(page, loginName=name)
    began = time.perf_counter()
    page = await visitor.send(page, password=password)
    seconds = time.perf_counter() - began
    await visitor.close()
    assert (page.status, page.name) == (400, "password"), page.text  # noqa: S101 - a benchmark
    return seconds


def _difference(
    kind: str, took: Mapping[str, Sequence[float]], chance: random.Random
) -> Difference:
    """By the bootstrap: medians of samples drawn again and again from what was measured."""
    ours, usual = took[kind][_WARMING:], took["wrong"][_WARMING:]
    found = [
        median(chance.choices(ours, k=len(ours))) - median(chance.choices(usual, k=len(usual)))
        for _ in range(_RESAMPLED)
    ]
    cuts = quantiles(found, n=40)
    return Difference(kind, median(ours), cuts[0], cuts[-1])
