"""A limit on how many readers of events wait in this process at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

from idp.foundation.errors import Busy, TooMany

MAX_WAITING: Final = 100
MAX_OF_ORGANIZATIONS: Final = 80  # of them; the others are for readers of the installation
MAX_OF_ORGANIZATION: Final = 20
MAX_OF_CALLER: Final = 10
_RETRY_SECONDS: Final = 5

Key = TypeVar("Key")


class WaitingReaders:
    """Counts the readers that wait for new events in this process."""

    def __init__(self) -> None:
        # By organization; None counts the readers of all events.
        self._by_organization = Counter[str | None]()
        self._by_caller = Counter[str]()

    @property
    def count(self) -> int:
        """The number of waiting readers."""
        return self._by_organization.total()

    @contextmanager
    def waiting(self, org_id: str | None, caller: str) -> Iterator[None]:
        """Counts a reader of an organization's events, or of all (None), within the block.
        `caller` is the id of the user who reads.

        Raises TooMany if 10 readers of the caller wait already. Raises Busy if 100 readers wait,
        or 20 of the organization, or 80 of organizations: so that none can displace the others, or
        the readers of all events.
        """
        self._check(org_id, caller)
        self._by_organization[org_id] += 1
        self._by_caller[caller] += 1
        try:
            yield
        finally:
            _count_end(self._by_organization, org_id)
            _count_end(self._by_caller, caller)

    def _check(self, org_id: str | None, caller: str) -> None:
        if self._by_caller[caller] >= MAX_OF_CALLER:
            message = f"{MAX_OF_CALLER} of your readers wait for new events already"
            raise TooMany(message, retry_after_seconds=_RETRY_SECONDS)
        if not self._has_room(org_id):
            raise Busy("too many readers wait for new events", retry_after_seconds=_RETRY_SECONDS)

    def _has_room(self, org_id: str | None) -> bool:
        if self.count >= MAX_WAITING:
            return False
        organization_readers = self.count - self._by_organization[None]
        return org_id is None or (
            organization_readers < MAX_OF_ORGANIZATIONS
            and self._by_organization[org_id] < MAX_OF_ORGANIZATION
        )


def _count_end(counter: Counter[Key], key: Key) -> None:
    counter[key] -= 1
    if not counter[key]:
        del counter[key]
