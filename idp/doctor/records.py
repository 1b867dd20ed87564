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
_MAX_IN_MEMORY: Final = 1_000  # records in memory; the others are only counted


class Matches(Struct, Generic[R]):
    """The result of a search for records with a problem: `count` of the `read_count` records that
    were read have it.

    There may be more unless `is_all` is true. `records` has the first of them.
    """

    records: list[R] = []
    count: int = 0
    read_count: int = 0
    is_all: bool = True

    def add(self, records: Sequence[R]) -> None:
        """Counts further records that have the problem, and adds some of them to `records`."""
        self.records += records[: _MAX_IN_MEMORY - len(self.records)]
        self.count += len(records)

    @property
    def named(self) -> Sequence[R]:
        """The first few of `records`, which a finding lists by name."""
        return self.records[:MAX_NAMED]

    def merged(self, other: Matches[R]) -> Matches[R]:
        """Returns the matches of both searches as one."""
        return Matches(
            records=[*self.records, *other.records],
            count=self.count + other.count,
            read_count=self.read_count + other.read_count,
            is_all=self.is_all and other.is_all,
        )

    def finding(
        self, nouns: str, problem: str, names: Sequence[str], commands: Sequence[str] = ()
    ) -> Finding:
        """Returns the finding about the search: a warning with `names` and `commands` if there are
        any matches, otherwise that nothing is wrong.

        `nouns` names the records, and `problem` what is wrong with them, as parts of a sentence.
        """
        scope = "" if self.is_all else "the first "
        text = f"{self.count} of {scope}{self.read_count} {nouns} {problem}"
        if not self.is_all:
            text += " (--deep checks all)"
        if not self.count:
            return Finding("ok", text)
        return Finding("warn", text, names, self.count, commands, records=self.named)


async def matching(
    installation: Installation, collection: Collection[R], is_match: Callable[[R], bool]
) -> Matches[R]:
    """Searches a collection for the records for which `is_match` returns true.

    At most `max_records` of the installation are read.
    """

    async def select(records: Sequence[R]) -> Sequence[R]:
        return [each for each in records if is_match(each)]

    return await search_batches(installation, collection, select)


async def search_batches(
    installation: Installation,
    collection: Collection[R],
    select: Callable[[Sequence[R]], Awaitable[Sequence[R]]],
) -> Matches[R]:
    """Searches a collection for the records that `select` returns; it is called with one batch of
    records after the other.

    At most `max_records` of the installation are read.
    """
    matches: Matches[R] = Matches()
    async for records in _batches(installation, collection, matches):
        matches.add(await select(records))
    return matches


async def _batches(
    installation: Installation, collection: Collection[R], matches: Matches[R]
) -> AsyncIterator[list[R]]:
    """Yields the records in batches, up to the limit; `matches` counts them."""
    batch: list[R] = []
    scan = cast(AsyncGenerator[R, None], installation.opened.scan(collection))
    async with aclosing(scan) as records:
        async for record in records:
            if matches.read_count == installation.max_records:
                matches.is_all = False
                break
            matches.read_count += 1
            batch.append(record)
            if len(batch) == _BATCH:
                yield batch
                batch = []
    yield batch
