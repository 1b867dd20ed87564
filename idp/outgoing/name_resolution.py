"""Addresses of host names, as the operating system resolves them."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from socket import SOCK_STREAM, getaddrinfo


async def resolve(host: str, port: int) -> list[str]:
    """Returns the addresses of a host. Raises OSError, UnicodeError.

    The operating system's look-up can't be interrupted, and may take half a minute if the name's
    servers do not answer. So each has a thread of its own: in a pool, the slow ones would make
    the others wait. The caller limits how many there are (`CallSlot.count_until_done`).
    """
    loop = asyncio.get_running_loop()
    found: asyncio.Future[list[str]] = loop.create_future()

    def look_up() -> None:
        addresses: list[str] = []
        error: Exception | None = None
        try:
            infos = getaddrinfo(host, port, type=SOCK_STREAM)
            addresses = [str(sockaddr[0]) for *_, sockaddr in infos]
        except Exception as failure:
            error = failure
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(_finish, found, addresses, error)

    # As a daemon it does not delay the end of the process.
    threading.Thread(target=look_up, name="name resolution", daemon=True).start()
    return await found


def _finish(
    found: asyncio.Future[list[str]], addresses: list[str], error: Exception | None
) -> None:
    if found.cancelled():
        return
    if error is not None:
        found.set_exception(error)
    else:
        found.set_result(addresses)
