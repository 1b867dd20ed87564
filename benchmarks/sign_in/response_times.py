"""Whether the duration of an answer reveals which accounts exist, and in which state they are."""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from statistics import median, quantiles
from typing import Final, NamedTuple

from benchmarks.sign_in.people import KINDS, Administrator
from tests.support.browsers.visitor import Page, Visitor
from tests.support.protocol.relying_party import RelyingParty

MOST_MILLISECONDS: Final = 5.0
_RESAMPLED: Final = 2000
_WARMING: Final = 20


class Difference(NamedTuple):
    """How much longer the answer for a kind of account takes than that for a wrong password: the
    95 % interval of the difference of the medians, in milliseconds."""

    kind: str
    median: float
    low: float
    high: float

    @property
    def is_within(self) -> bool:
        """Whether the difference is too small to identify the kind."""
        return self.low >= -MOST_MILLISECONDS and self.high <= MOST_MILLISECONDS


async def measured(
    answer: Answer, administrator: Administrator, party: RelyingParty, tries: int, seed: int
) -> list[Difference]:
    """Returns the difference of each kind, from so many attempts of each, mixed with those of the
    others."""
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
    """Returns the headers of a trusted proxy for a request from the nth of many networks, so that
    no limit of one network is reached."""
    return {"X-Forwarded-For": f"198.{18 + n // 62_500}.{n // 250 % 250}.{n % 250}"}


async def _refusal(visitor: Visitor, page: Page, password: str) -> float:
    """Returns the duration of the refusal in a new browser."""
    began = time.perf_counter()
    page = await visitor.send(page, password=password)
    seconds = time.perf_counter() - began
    assert (page.status, page.name) == (400, "password"), page.text  # noqa: S101 - a benchmark
    return seconds


async def _mail(visitor: Visitor, page: Page, _: str) -> float:
    """Returns the duration until a mail is sent, or until the page states that it is."""
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
    """Returns the difference by the bootstrap: medians of random samples of the measured times."""
    ours, usual = took[kind][_WARMING:], took["wrong"][_WARMING:]
    differences = [
        median(source.choices(ours, k=len(ours))) - median(source.choices(usual, k=len(usual)))
        for _ in range(_RESAMPLED)
    ]
    cuts = quantiles(differences, n=40)
    return Difference(kind, median(ours), cuts[0], cuts[-1])
