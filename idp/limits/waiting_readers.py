"""A limit on how many readers of events wait in this process at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from idp.foundation.errors import Busy

MAX_WAITING: Final = 100
MAX_OF_ORGANIZATIONS: Final = 80  # of them; the others are for readers of the installation
MAX_OF_ORGANIZATION: Final = 20
_RETRY_SECONDS: Final = 5


class WaitingReaders:
    """Counts the readers that wait for new events in this process."""

    def __init__(self) -> None:
        # By organization; None counts the readers of all events.
        self._by_organization = Counter[str | None]()

    @property
    def count(self) -> int:
        """The number of waiting readers."""
        return self._by_organization.total()

    @contextmanager
    def waiting(self, org_id: str | None) -> Iterator[None]:
        """Counts a reader of an organization's events, or of all (None), within the block.

        Raises Busy if 100 readers wait already, or 20 of the organization, or 80 of organizations:
        so that none can displace the others, or the readers of all events.
        """
        if not self._has_room(org_id):
            raise Busy("too many readers wait for new events", retry_after_seconds=_RETRY_SECONDS)
        self._by_organization[org_id] += 1
        try:
            yield
        finally:
            self._by_organization[org_id] -= 1
            if not self._by_organization[org_id]:
                del self._by_organization[org_id]

    def _has_room(self, org_id: str | None) -> bool:
        if self.count >= MAX_WAITING:
            return False
        organization_readers = self.count - self._by_organization[None]
        return org_id is None or (
            organization_readers < MAX_OF_ORGANIZATIONS
            and self._by_organization[org_id] < MAX_OF_ORGANIZATION
        )
