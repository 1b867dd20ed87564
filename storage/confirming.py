"""Whether what a store has returned can be taken back by the loss of a server.

A read may return what no majority of the servers has yet. A unit that is committed afterwards
confirms it, and so do the refusals of a commit. An answer without either, that says that something
was done before or is the case already, has to be confirmed.
"""

from __future__ import annotations

from typing import Any


class Confirming:
    """The methods of a store that confirm what it has returned."""

    async def get(self, collection: Any, id: str) -> Any:
        """Returns the record with this id, or None."""
        raise NotImplementedError

    async def get_confirmed(self, collection: Any, record_id: str) -> Any:
        """Returns the record with this id, or None, as a majority of the servers has it. It takes
        a separate command. Raises Unavailable."""
        return await self.get(collection, record_id)

    def read_point(self) -> object:
        """Returns the point from which `confirm` confirms reads."""
        return None

    async def confirm(self, point: object) -> None:
        """Returns once a majority of the servers has everything that this process has read since
        `point`, a result of `read_point`. Raises Unavailable if that can't be known, such as after
        a change of the primary."""
