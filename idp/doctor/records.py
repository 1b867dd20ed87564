"""Looking through a collection, with a bound, for records that something is wrong with."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Final, Generic, TypeVar, cast

from msgspec import Struct

from idp.doctor.check import MOST_NAMED, Finding, Installation
from storage import Collection, Record

R = TypeVar("R", bound=Record)

_AT_ONCE: Final = 500  # records that are judged together
_MOST_KEPT: Final = 1_000


class Matches(Struct, Generic[R]):
    """Records that were found: `count` of `looked_at`. There may be more unless it `is_all`.

    `found` are the first of them.
    """

    found: list[R] = []
    count: int = 0
    looked_at: int = 0
    is_all: bool = True

    def add(self, records: Sequence[R]) -> None:
        """Count these, too."""
        self.found += records[: _MOST_KEPT - len(self.found)]
        self.count += len(records)

    @property
    def named(self) -> Sequence[R]:
        """Those that a finding names."""
        return self.found[:MOST_NAMED]

    def joined(self, other: Matches[R]) -> Matches[R]:
        """Those of two collections."""
        return Matches(
            found=[*self.found, *other.found],
            count=self.count + other.count,
            looked_at=self.looked_at + other.looked_at,
            is_all=self.is_all and other.is_all,
        )

    def judged(
        self, nouns: str, problem: str, names: Sequence[str], commands: Sequence[str] = ()
    ) -> Finding:
        """A warning if there are any: how many of how many, with these names and commands."""
        whole = "" if self.is_all else "the first "
        told = f"{self.count} of {whole}{self.looked_at} {nouns} {problem}"
        if not self.is_all:
            told += " (with --deep all are looked at)"
        if not self.count:
            return Finding("ok", told)
        return Finding("warn", told, names=names, count=self.count, commands=commands)


async def matching(
    installation: Installation, collection: Collection[R], is_meant: Callable[[R], bool]
) -> Matches[R]:
    """The records of a collection for which `is_meant` holds."""

    async def chosen(records: Sequence[R]) -> Sequence[R]:
        return [each for each in records if is_meant(each)]

    return await chosen_by(installation, collection, chosen)


async def chosen_by(
    installation: Installation,
    collection: Collection[R],
    choose: Callable[[Sequence[R]], Awaitable[Sequence[R]]],
) -> Matches[R]:
    """The records of a collection that `choose` takes of some at a time, among those that may be
    looked at."""
    matches: Matches[R] = Matches()
    async for records in _batches(installation, collection, matches):
        matches.add(await choose(records))
    return matches


async def _batches(
    installation: Installation, collection: Collection[R], matches: Matches[R]
) -> AsyncIterator[list[R]]:
    """The records, some at a time, as many as may be looked at; `matches` counts them."""
    batch: list[R] = []
    scan = cast(AsyncGenerator[R, None], installation.opened.scan(collection))
    async with aclosing(scan) as records:
        async for record in records:
            if matches.looked_at == installation.most_records:
                matches.is_all = False
                break
            matches.looked_at += 1
            batch.append(record)
            if len(batch) == _AT_ONCE:
                yield batch
                batch = []
    yield batch
