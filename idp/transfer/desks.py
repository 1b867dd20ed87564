"""Where batches of a package are worked on: several are judged at once, one is stored at a time.

They are stored in the package's order, each when what became of the one before it has been kept.
So whoever stops knows what was done, however many were being judged.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Protocol

from idp.transfer import engine, kinds
from idp.transfer.engine import Judged, Settled
from idp.transfer.kinds.kind import Taking
from idp.transfer.rows import Row

Following = Callable[[], Awaitable[Sequence[Row] | None]]


class Desk(Protocol):
    """Where one batch at a time is worked on, in this process or in another one."""

    async def judge(self, rows: Sequence[Row]) -> None:
        """How these rows, which are of one kind, stand to what is stored. Raises StorageError."""

    async def store(self) -> list[Settled]:
        """Store what was judged last; what became of each row. Raises StorageError: then some
        rows may be stored, and are recognised when they come again."""


class OwnDesk:
    """A desk in this process."""

    def __init__(self, taking: Taking) -> None:
        self._taking = taking
        self._judged: Judged | None = None

    async def judge(self, rows: Sequence[Row]) -> None:
        """As `Desk.judge`."""
        self._judged = await engine.judge(self._taking, rows)

    async def store(self) -> list[Settled]:
        """As `Desk.store`."""
        assert self._judged is not None  # noqa: S101 - the order of a desk's work
        judged, self._judged = self._judged, None
        return await engine.store(self._taking, judged)


async def settled(
    desks: Sequence[Desk], following: Following
) -> AsyncGenerator[list[Settled], None]:
    """What became of each batch of rows that `following` gives, until it gives None.

    A batch is stored when its caller comes for it; those behind it are judged meanwhile, where
    they may be. `desks` may become more, or fewer, at any time. Raises StorageError.
    """
    line = _Line(desks, following)
    try:
        await line.fill()
        while line.places:
            done = await line.first()
            await line.fill()
            yield done
    finally:
        await asyncio.gather(*(judging for _, _, judging in line.places), return_exceptions=True)


class _Line:
    """The batches that are being judged, or were, in their order, each with its desk."""

    def __init__(self, desks: Sequence[Desk], following: Following) -> None:
        self._desks = desks
        self._following = following
        self._next: Sequence[Row] | None = None
        self._is_over = False
        self.places: deque[tuple[Desk, Sequence[Row], asyncio.Task[None]]] = deque()

    async def first(self) -> list[Settled]:
        """What became of the first batch, which is stored; it leaves the line."""
        desk, _, judging = self.places[0]
        await judging
        done = await desk.store()
        self.places.popleft()
        return done

    async def fill(self) -> None:
        """Have as many batches judged as there are desks for, and as may be by now."""
        while (desk := self._free()) is not None:
            if self._next is None and not self._is_over:
                self._next = await self._following()
                self._is_over = self._next is None
            rows = self._next
            if rows is None or not self._may_overtake(rows):
                return
            self._next = None
            self.places.append((desk, rows, asyncio.ensure_future(desk.judge(rows))))

    def _free(self) -> Desk | None:
        taken = [desk for desk, _, _ in self.places]
        return next((desk for desk in self._desks if desk not in taken), None)

    def _may_overtake(self, rows: Sequence[Row]) -> bool:
        """Whether these can be judged before what is in the line is stored: nothing of them
        refers to it, and where they want the same they are judged again."""
        if not self.places:
            return True
        member = rows[0].member
        kind = kinds.BY_MEMBER.get(member)
        is_same = all(others[0].member == member for _, others, _ in self.places)
        return is_same and kind is not None and kind.stands_alone
