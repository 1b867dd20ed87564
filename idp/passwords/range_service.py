"""Look-up of a breached password at a range service, which does not learn the password
(k-anonymity).

The first 5 hex digits of the SHA-1 are sent; the answer contains the rest of every hash that
begins with them, and padding that hides their number. On any failure the password is accepted: an
outage of the service must not prevent a change of password.
"""

from __future__ import annotations

from typing import Final

from idp.config.settings import Config
from idp.foundation import logs
from idp.outgoing.failures import Failed, TimedOut
from idp.outgoing.http import Outgoing
from idp.passwords.breached import RANGE_DIGITS, count_in_range, digest

SECONDS: Final = 1.0
MAX_ANSWER_BYTES: Final = 1024 * 1024
_OK: Final = 200
_log = logs.logger(__name__)


async def contains(config: Config, outgoing: Outgoing, password: str) -> bool:
    """Returns whether the configured range service has the password with at least the count that
    the settings require; False if the service can't be reached or does not answer within a
    second."""
    if not config.breached_passwords_url:
        return False
    target = digest(password).hex().upper()
    url = f"{config.breached_passwords_url.rstrip('/')}/{target[:RANGE_DIGITS]}"
    try:
        rows = await _range(outgoing, url)
    except TimedOut:
        _log.warning("breached_passwords_url did not answer in time", seconds=SECONDS)
        return False
    except Failed as error:
        _log.warning("breached_passwords_url gave no answer", cause=f"{error}")
        return False
    return count_in_range(rows, target[RANGE_DIGITS:]) >= config.breached_passwords_min_count


async def _range(outgoing: Outgoing, url: str) -> bytes:
    """Returns the lines that the service sends. Raises Failed."""
    headers = {"Add-Padding": "true"}
    answer = await outgoing.exchange(
        None, "GET", url, headers, b"", max_bytes=MAX_ANSWER_BYTES, seconds=SECONDS
    )
    if answer.status != _OK:
        raise Failed(f"status {answer.status}")
    return answer.body
