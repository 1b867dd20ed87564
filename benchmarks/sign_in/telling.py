"""Whether the time of an answer tells which accounts exist, and what is the matter with them."""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from statistics import median, quantiles
from typing import Final, NamedTuple

from benchmarks.sign_in.people import KINDS, Administrator
from tests.support.relying_party import RelyingParty
from tests.support.visitor import Page, Visitor

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
    answer: Answer, administrator: Administrator, party: RelyingParty, tries: int, seed: int
) -> list[Difference]:
    """The difference of each kind, from so many tries of each, mixed with those of the others."""
    source = random.Random(seed)  # noqa: S311 - an order, and samples
    queue = [
        (kind, name)
        for kind in KINDS
        for name in administrator.people(kind, KINDS[kind], tries + _WARMING)
    ]
    source.shuffle(queue)
    took: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for n, (kind, name) in enumerate(queue):
        visitor = Visitor(party.issuer, headers=_from_network(n))
        page = await visitor.open(party.authorize_url())
        page = await visitor.submit(page, loginName=name)
        took[kind].append(await answer(visitor, page, KINDS[kind].given) * 1000)
        await visitor.close()
    return [_difference(kind, took, source) for kind in KINDS]


def _from_network(n: int) -> dict[str, str]:
    """What a trusted proxy says of a request from the nth of many networks: no limit of one is
    met."""
    return {"X-Forwarded-For": f"198.{18 + n // 62_500}.{n // 250 % 250}.{n % 250}"}


async def _refusal(visitor: Visitor, page: Page, password: str) -> float:
    """How long the refusal takes, of a browser that has just been opened."""
    began = time.perf_counter()
    page = await visitor.send(page, password=password)
    seconds = time.perf_counter() - began
    assert (page.status, page.name) == (400, "password"), page.text  # noqa: S101 - a benchmark
    return seconds


async def _mail(visitor: Visitor, page: Page, _: str) -> float:
    """How long it takes until a mail is on its way, or is said to be."""
    page = await visitor.open(page.url.replace("/ui/login/password", "/ui/login/reset"))
    name = page.inputs["loginName"]
    began = time.perf_counter()
    page = await visitor.send(page, loginName=name)
    seconds = time.perf_counter() - began
    assert "/ui/login/reset-code" in (page.location or ""), page.text  # noqa: S101 - a benchmark
    return seconds


Answer = Callable[[Visitor, Page, str], Awaitable[float]]
ANSWERS: Final[Mapping[str, Answer]] = {"a refusal": _refusal, "mail for a new password": _mail}


def _difference(
    kind: str, took: Mapping[str, Sequence[float]], source: random.Random
) -> Difference:
    """By the bootstrap: medians of samples drawn again and again from what was measured."""
    ours, usual = took[kind][_WARMING:], took["wrong"][_WARMING:]
    found = [
        median(source.choices(ours, k=len(ours))) - median(source.choices(usual, k=len(usual)))
        for _ in range(_RESAMPLED)
    ]
    cuts = quantiles(found, n=40)
    return Difference(kind, median(ours), cuts[0], cuts[-1])
