"""The state of a back end other than its records, for the operators of an installation."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

# How long after its due removal an expired record is overdue.
OVERDUE_AFTER: Final = timedelta(hours=1)


class Condition:
    """The state of a back end other than its records.

    The methods are the defaults for a back end that has no server and removes expired records at
    once.
    """

    async def server_time(self) -> datetime | None:
        """Returns the time of the server that holds the store; None if that is this machine.

        Raises Unavailable.
        """
        return None

    async def overdue(self, *, up_to: int) -> int:
        """Returns the number of expired records that were due for removal an hour ago, at most
        `up_to`.

        Of a collection without an index by expiry, only the first records are checked. Raises
        Unavailable.
        """
        return 0
