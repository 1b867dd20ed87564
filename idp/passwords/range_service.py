"""Asks a range service whether a password was breached, without telling it which (k-anonymity).

The first 5 hex digits of the SHA-1 are sent; the answer has the rest of every hash that begins so,
and lines of padding that hide how many there are. Whatever goes wrong, the password is accepted:
an outage of the service must not keep anybody from changing a password.
"""

from __future__ import annotations

import asyncio
import http.client
import ssl
from typing import Final
from urllib.parse import urlsplit

from idp import __version__
from idp.config.settings import Config
from idp.foundation import logs
from idp.passwords.breached import RANGE_DIGITS, count_in_range, digest

SECONDS: Final = 1.0
MAX_ANSWER_BYTES: Final = 1024 * 1024
_HEADERS: Final = {"Add-Padding": "true", "User-Agent": f"idp/{__version__}"}
_log = logs.logger(__name__)


class RangeServiceFailed(Exception):
    """The service answered with something other than a range."""


async def contains(config: Config, password: str) -> bool:
    """Whether the service knows the password at least as often as the settings ask for; False
    when it can't be asked or does not answer within a second."""
    if not config.breached_passwords_url:
        return False
    sought = digest(password).hex().upper()
    url = f"{config.breached_passwords_url.rstrip('/')}/{sought[:RANGE_DIGITS]}"
    asking = asyncio.ensure_future(asyncio.to_thread(_range, url))
    done, _ = await asyncio.wait({asking}, timeout=SECONDS)
    if not done:
        asking.add_done_callback(_ignore_outcome)
        _log.warning("breached_passwords_url did not answer in time", seconds=SECONDS)
        return False
    try:
        text = asking.result()
    except (OSError, ValueError, http.client.HTTPException, RangeServiceFailed) as error:
        _log.warning("breached_passwords_url gave no answer", cause=f"{error}")
        return False
    return count_in_range(text, sought[RANGE_DIGITS:]) >= config.breached_passwords_min_count


def _range(url: str) -> bytes:
    """The lines that the service answers. Redirects are not followed, proxies not asked."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port
    connection: http.client.HTTPConnection
    if parts.scheme == "https":
        context = ssl.create_default_context()
        connection = http.client.HTTPSConnection(host, port, timeout=SECONDS, context=context)
    else:
        connection = http.client.HTTPConnection(host, port, timeout=SECONDS)
    try:
        connection.request("GET", parts.path, headers=_HEADERS)
        with connection.getresponse() as answer:  # it outlives the connection otherwise
            if answer.status != 200:
                raise RangeServiceFailed(f"status {answer.status}")
            return answer.read(MAX_ANSWER_BYTES)
    finally:
        connection.close()


def _ignore_outcome(asked: asyncio.Future[bytes]) -> None:
    if not asked.cancelled():
        asked.exception()
