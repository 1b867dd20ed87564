"""JSON documents of other servers, such as discovery documents and key sets, cached in each
process."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from idp.config.settings import Config
from idp.foundation import strict_json
from idp.foundation.errors import InvalidArgument
from idp.outgoing.failures import Failed
from idp.outgoing.http import SECONDS, Outgoing

MAX_AGE: Final = timedelta(hours=1)
MAX_STALE_AGE: Final = timedelta(hours=24)  # while the server can't be reached
MAX_CACHED_BYTES: Final = 4 * 1024 * 1024  # of all bodies; parsed, they take several times that
MAX_VALUES: Final = 5000  # of one document: parsing them takes some milliseconds
_OK: Final = 200


class Fetched(NamedTuple):
    """A JSON object that another server has returned, when it was requested, how many bytes the
    body had, and for which organization it was fetched (None: for the operator)."""

    content: dict[str, Any]
    at: datetime
    size: int
    owner: str | None = None


class FetchedDocuments:
    """The documents that this process has fetched, by their address: those that were fetched last,
    because administrators of organizations decide which addresses are fetched.

    When the cache is full, the oldest document of the organization that uses most of it is
    removed.
    """

    def __init__(self) -> None:
        self._cached: dict[str, Fetched] = {}  # the oldest first
        self._bytes_by_owner: Counter[str | None] = Counter()  # by owner
        self._running: dict[tuple[str | None, str], asyncio.Task[Fetched]] = {}

    async def get(
        self,
        outgoing: Outgoing,
        config: Config,
        url: str,
        now: datetime,
        *,
        max_bytes: int,
        max_age: timedelta = MAX_AGE,
    ) -> Fetched:
        """Returns the JSON object at an address, which may be as old as `max_age`, or a day if it
        can't be fetched. Concurrent callers of one organization share one request.

        `config` decides which networks may be called. Raises Failed.
        """
        cached = self._cached.get(url)
        if cached is not None and now - cached.at < max_age:
            return cached
        try:
            return await self._fetched(outgoing, config, url, now, max_bytes)
        except Failed:
            if cached is not None and now - cached.at < MAX_STALE_AGE:
                return cached
            raise

    async def _fetched(
        self, outgoing: Outgoing, config: Config, url: str, now: datetime, max_bytes: int
    ) -> Fetched:
        # Not shared by organizations: one whose calls have to wait would make others wait, too.
        key = outgoing.owner, url
        task = self._running.get(key)
        if task is None:
            task = asyncio.create_task(_fetch(outgoing, config, url, now, max_bytes))
            self._running[key] = task
            task.add_done_callback(lambda done: self._cache_result(key, done))
        # Shielded: a cancelled caller must not cancel the request of the others.
        return await asyncio.shield(task)

    def _cache_result(self, key: tuple[str | None, str], task: asyncio.Task[Fetched]) -> None:
        self._running.pop(key, None)
        if task.cancelled() or task.exception() is not None:
            return
        _, url = key
        self._evict(url)
        self._cached[url] = document = task.result()
        self._bytes_by_owner[document.owner] += document.size
        while self._bytes_by_owner.total() > MAX_CACHED_BYTES:
            self._make_room()

    def _make_room(self) -> None:
        """Removes the oldest document of the owner with the most bytes."""
        ((owner, _),) = self._bytes_by_owner.most_common(1)
        self._evict(next(url for url, each in self._cached.items() if each.owner == owner))

    def _evict(self, url: str) -> None:
        document = self._cached.pop(url, None)
        if document is not None:
            self._bytes_by_owner[document.owner] -= document.size
            if not self._bytes_by_owner[document.owner]:
                del self._bytes_by_owner[document.owner]


async def _fetch(
    outgoing: Outgoing, config: Config, url: str, now: datetime, max_bytes: int
) -> Fetched:
    headers = {"Accept": "application/json"}
    answer = await outgoing.exchange(
        config, "GET", url, headers, b"", max_bytes=max_bytes + 1, seconds=SECONDS
    )
    if answer.status != _OK:
        raise Failed(f"the answer has the status {answer.status}")
    content = decoded(answer.body, max_bytes)
    return Fetched(content, now, len(answer.body), outgoing.owner)


def decoded(body: bytes, max_bytes: int) -> dict[str, Any]:
    """Returns the JSON object in the body of an answer. Raises Failed if it is something else,
    longer than `max_bytes`, or would take long to parse."""
    if len(body) > max_bytes:
        raise Failed(f"the answer is longer than {max_bytes} bytes")
    try:
        content = strict_json.decode(body, max_values=MAX_VALUES)
    except InvalidArgument:
        raise Failed("the answer is no well-formed JSON") from None
    if not isinstance(content, dict):
        raise Failed("the answer is no JSON object")
    return content
