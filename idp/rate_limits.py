"""Wrong tokens and secrets are counted, so that whoever guesses is told to stop.

Only a failure is counted, in the store, so that all processes share the counts; what is right
costs nothing and is let in whatever was counted: nobody is locked out by a stranger's guesses.
"""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Final

from idp.service import Service

WINDOW: Final = timedelta(minutes=10)


async def refused_token(service: Service, address: str) -> int:
    """Count a wrong token from this address. After how many seconds to come again; 0 as long as
    there are not too many."""
    return await _counted(service, f"token:{address}")


async def refused_client(service: Service, client_id: str, address: str) -> int:
    """The same for a client that failed to authenticate."""
    client = service.vault.mac("refused client", client_id).hex()[:32]
    return await _counted(service, f"client:{client}:{address}")


async def _counted(service: Service, key: str) -> int:
    count = await service.store.increment(f"refused:{key}", window=WINDOW)
    if count.n <= service.config.refused_credentials_limit:
        return 0
    left = count.resets_at - service.clock.now()
    return max(1, math.ceil(left.total_seconds()))
