"""What a back end tells of itself beside its records, for whoever looks after an installation."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

# How long after its removal was due an expired record counts as overdue.
OVERDUE_AFTER: Final = timedelta(hours=1)


class Condition:
    """Defaults for a back end that has no server and removes what has expired at once."""

    async def server_time(self) -> datetime | None:
        """The time on the server that keeps the store; None: it is this machine's.

        Raises Unavailable.
        """
        return None

    async def overdue(self, *, up_to: int) -> int:
        """How many expired records should have been removed an hour ago, at most `up_to`.

        Of a collection without an index by expiry, only the first records are looked at.
        Raises Unavailable.
        """
        return 0
