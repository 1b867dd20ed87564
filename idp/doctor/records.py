"""Bounded searches of a collection for records with a problem."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Final, Generic, TypeVar, cast

from msgspec import Struct

from idp.doctor.check import MAX_NAMED, Finding, Installation
from storage import Collection, Record

R = TypeVar("R", bound=Record)

_BATCH: Final = 500  # records that are checked together, so that related ones are read at once
_MAX_IN_MEMORY: Final = 1_000  # in memory; the others are only counted


class Matches(Struct, Generic[R]):
    """The result of a search for records with a problem: `count` of the `looked_at` records that
    were read have it.

    There may be more unless `is_all` is true. `found` has the first of them.
    """

    found: list[R] = []
    count: int = 0
    looked_at: int = 0
    is_all: bool = True

    def add(self, records: Sequence[R]) -> None:
        """Counts further records that have the problem, and adds them to `found` up to a limit."""
        self.found += records[: _MAX_IN_MEMORY - len(self.found)]
        self.count += len(records)

    @property
    def named(self) -> Sequence[R]:
        """The first few of `found`, which a finding lists by name."""
        return self.found[:MAX_NAMED]

    def joined(self, other: Matches[R]) -> Matches[R]:
        """Returns the matches of both searches as one."""
        return Matches(
            found=[*self.found, *other.found],
            count=self.count + other.count,
            looked_at=self.looked_at + other.looked_at,
            is_all=self.is_all and other.is_all,
        )

    def finding(
        self, nouns: str, problem: str, names: Sequence[str], commands: Sequence[str] = ()
    ) -> Finding:
        """Returns the finding about the search: a warning with `names` and `commands` if there are
        any matches, otherwise that nothing is wrong.

        `nouns` says what the records are, and `problem` what is wrong with them, as parts of a
        sentence.
        """
        scope = "" if self.is_all else "the first "
        text = f"{self.count} of {scope}{self.looked_at} {nouns} {problem}"
        if not self.is_all:
            text += " (with --deep all are looked at)"
        if not self.count:
            return Finding("ok", text)
        return Finding("warn", text, names=names, count=self.count, commands=commands)


async def matching(
    installation: Installation, collection: Collection[R], is_match: Callable[[R], bool]
) -> Matches[R]:
    """Searches a collection for the records for which `is_match` returns true.

    At most `max_records` of the installation are read.
    """

    async def chosen(records: Sequence[R]) -> Sequence[R]:
        return [each for each in records if is_match(each)]

    return await chosen_by(installation, collection, chosen)


async def chosen_by(
    installation: Installation,
    collection: Collection[R],
    choose: Callable[[Sequence[R]], Awaitable[Sequence[R]]],
) -> Matches[R]:
    """Searches a collection for the records that `choose` returns; it is called with one batch of
    records after the other.

    At most `max_records` of the installation are read.
    """
    matches: Matches[R] = Matches()
    async for records in _batches(installation, collection, matches):
        matches.add(await choose(records))
    return matches


async def _batches(
    installation: Installation, collection: Collection[R], matches: Matches[R]
) -> AsyncIterator[list[R]]:
    """Yields the records in batches, up to the limit; `matches` counts them."""
    batch: list[R] = []
    scan = cast(AsyncGenerator[R, None], installation.opened.scan(collection))
    async with aclosing(scan) as records:
        async for record in records:
            if matches.looked_at == installation.max_records:
                matches.is_all = False
                break
            matches.looked_at += 1
            batch.append(record)
            if len(batch) == _BATCH:
                yield batch
                batch = []
    yield batch
