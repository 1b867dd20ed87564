"""Warnings about proxies that are not in `trusted_proxies`: in the log, and stored for some
days.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import Final

from idp.foundation import logs
from idp.records import UNTRUSTED_PROXIES, UntrustedProxy
from idp.service import Service
from storage import Conflict, Insert, Reader, Stale, Update

_HOP_CHARACTERS: Final = 60
STORED_FOR: Final = timedelta(days=7)
_log: Final = logs.logger(__name__)


def warn(service: Service, address: str) -> None:
    """Logs a warning that requests came from this address with X-Forwarded-For, Forwarded or
    X-Real-IP although it is no trusted proxy, once per start, and stores the address for
    `find_all`.
    """
    if service.untrusted_proxies.is_new(address):
        _log.warning(
            "X-Forwarded-For is ignored, like Forwarded and X-Real-IP: the address that sent one"
            " is not in trusted_proxies. If it is your proxy, name it there; limits of one network"
            " are 50 times as high until then, because all clients have its address",
            proxy=address,
        )
        service.background_tasks.start(_store(service, address))


def warn_of_hop(service: Service, address: str, hop: str) -> None:
    """Logs a warning that the trusted proxy with this address states no client's address that is
    understood, but `hop`, once per start."""
    if service.untrusted_proxies.is_new(f"hop of {address}"):
        _log.warning(
            "a trusted proxy does not state a client's address in a form that is understood;"
            " limits of one network are 50 times as high for such requests, because all of them"
            " have the proxy's address",
            proxy=address,
            stated=ascii(hop[:_HOP_CHARACTERS]),
        )


async def _store(service: Service, address: str) -> None:
    now = service.clock.now()
    proxy = UntrustedProxy(id=address, seen_at=now, expires_at=now + STORED_FOR)
    try:
        await service.store.commit(Insert(UNTRUSTED_PROXIES, proxy))
    except Conflict:  # the address is stored already
        values = {"seen_at": now, "expires_at": proxy.expires_at}
        with suppress(Stale):
            await service.store.commit(Update(UNTRUSTED_PROXIES, address, set=values))


async def find_all(store: Reader) -> list[UntrustedProxy]:
    """Returns the stored addresses that any process has warned of in the last seven days, the
    latest first.
    """
    proxies = [each async for each in store.scan(UNTRUSTED_PROXIES)]
    return sorted(proxies, key=lambda each: each.seen_at, reverse=True)
