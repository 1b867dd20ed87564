"""When credentials without a shorter life end: the longest lives that the settings allow.

`pat_max_days` and `key_max_days` bound what is created from then on; what is stored keeps its end.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from idp.foundation import opaque_tokens
from idp.foundation.errors import FieldProblem, InvalidArgument


def chosen(
    wanted: datetime | None, now: datetime, max_days: int, *, usual: datetime, past: FieldProblem
) -> datetime:
    """Return when a new credential ends: at `wanted`, else at the maximum, else at `usual`.

    `max_days` of 0 is no maximum; `past` describes an instant that is over. Raises InvalidArgument
    if the wanted instant is past or later than the maximum.
    """
    ends_at = wanted or default(now, max_days, usual)
    if ends_at <= now:
        raise InvalidArgument([past])
    if is_too_late(ends_at, now, max_days):
        message = too_late(now, max_days)
        raise InvalidArgument([FieldProblem("expiration.too_late", "expirationDate", message)])
    return ends_at


def default(now: datetime, max_days: int, usual: datetime = opaque_tokens.LASTS_UNTIL) -> datetime:
    """Return the end of a credential for which none is given: the maximum, if there is one."""
    return latest(now, max_days) if max_days else usual


def latest(now: datetime, max_days: int) -> datetime:
    """Return the last instant that a new credential may end at; `max_days` of 0: year 9999."""
    return now + timedelta(days=max_days) if max_days else opaque_tokens.LASTS_UNTIL


def is_too_late(ends_at: datetime, now: datetime, max_days: int) -> bool:
    """Whether the instant is later than the maximum allows."""
    return max_days > 0 and ends_at > latest(now, max_days)


def too_late(now: datetime, max_days: int) -> str:
    """Say why an instant is refused, and which one is not."""
    return f"is later than {latest(now, max_days):%Y-%m-%dT%H:%M:%SZ}, {max_days} days from now"
