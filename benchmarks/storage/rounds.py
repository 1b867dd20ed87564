"""Operations that are repeated and counted, in turn with their yardstick."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Sequence
from statistics import median, quantiles
from typing import Any, Final

from msgspec import Struct

CALM: Final = 0.9
SPIN_SECONDS: Final = 0.005


class Work(Struct, frozen=True):
    """An operation to repeat; `once` gets the number of the repetition.

    Its result is awaited if calls are concurrent; with `in_flight=0` it is a plain call of a
    driver that blocks. One repetition does `operations` operations.
    """

    name: str
    once: Callable[[int], Any]
    in_flight: int = 16
    operations: int = 1


class Target(Struct, frozen=True):
    """A target for the ratio of rates, with the sentence that states it."""

    sentence: str
    at_least: float


class Comparison(Struct, frozen=True):
    """One line of the table: the store's operation, and its yardstick."""

    name: str
    yardstick: Work
    ours: Work
    target: Target | None = None


class Sample(Struct, frozen=True):
    """The result of one round of one operation."""

    operations: int
    seconds: float
    cpu_seconds: float
    latencies: list[float]

    @property
    def rate(self) -> float:
        return self.operations / self.seconds


class Figures(Struct, frozen=True):
    """The figures of all rounds of one operation: operations a second, milliseconds, and this
    process's CPU time."""

    work: str
    in_flight: int
    rate: float
    p50_ms: float
    p99_ms: float
    cpu_us: float


class Result(Struct, frozen=True):
    """The result of a comparison. `ratio` is that of the median rates; `by_round` are the rounds'.

    `shares` are the parts of a core that were available in each round.
    """

    name: str
    yardstick: Figures
    ours: Figures
    ratio: float
    by_round: list[float]
    shares: list[float]
    target: Target | None = None

    @property
    def calm(self) -> list[float]:
        """Returns the ratios of the rounds in which a core was free for this process."""
        pairs = zip(self.by_round, self.shares, strict=True)
        return [ratio for ratio, share in pairs if share >= CALM]


# Never one twice, so that every insert of a run has an id of its own.
_NUMBERS = itertools.count()


async def measured(comparison: Comparison, rounds: int, seconds: float) -> Result:
    """Measures yardstick and store in turns, after a first turn of each that does not count."""
    pair = (comparison.yardstick, comparison.ours)
    samples: list[tuple[Sample, Sample]] = []
    shares: list[float] = []
    for turn in range(rounds + 1):
        length = seconds if turn else seconds / 5
        share = _share()
        yardstick, ours = [await _round(work, length) for work in pair]
        if turn:
            samples.append((yardstick, ours))
            shares.append(min(share, _share()))
    theirs, own = [
        _figures(work, work_samples)
        for work, work_samples in zip(pair, zip(*samples, strict=True), strict=True)
    ]
    by_round = [ours.rate / yardstick.rate for yardstick, ours in samples]
    ratio = own.rate / theirs.rate
    return Result(comparison.name, theirs, own, ratio, by_round, shares, comparison.target)


def _share() -> float:
    """Returns the part of a core that this process gets when it uses as much as it can."""
    cpu, began = time.process_time(), time.perf_counter()
    while (took := time.perf_counter() - began) < SPIN_SECONDS:
        pass
    return (time.process_time() - cpu) / took


async def _round(work: Work, seconds: float) -> Sample:
    latencies: list[float] = []
    cpu, began = time.process_time(), time.perf_counter()
    ends_at = began + seconds
    if work.in_flight:
        turns = [_turns(work, ends_at, latencies) for _ in range(work.in_flight)]
        await asyncio.gather(*turns)
    else:
        _plain_turns(work, ends_at, latencies)
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    return Sample(len(latencies) * work.operations, took, cpu, latencies)


async def _turns(work: Work, ends_at: float, latencies: list[float]) -> None:
    clock, once = time.perf_counter, work.once
    began = clock()
    while not latencies or began < ends_at:
        await once(next(_NUMBERS))
        done = clock()
        latencies.append(done - began)
        began = done


def _plain_turns(work: Work, ends_at: float, latencies: list[float]) -> None:
    clock, once = time.perf_counter, work.once
    began = clock()
    while not latencies or began < ends_at:
        once(next(_NUMBERS))
        done = clock()
        latencies.append(done - began)
        began = done


def _figures(work: Work, samples: Sequence[Sample]) -> Figures:
    latencies = [latency for sample in samples for latency in sample.latencies]
    percentiles = quantiles(latencies, n=100) if len(latencies) > 1 else latencies * 99
    return Figures(
        work.name,
        work.in_flight,
        median(sample.rate for sample in samples),
        percentiles[49] * 1000,
        percentiles[98] * 1000,
        median(sample.cpu_seconds / sample.operations for sample in samples) * 1e6,
    )
