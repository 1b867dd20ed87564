"""The expiration of tokens and keys: the maximal lifetimes in the settings.

`pat_max_days` and `key_max_days` limit what is created from then on; stored records keep their
expiration.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from idp.foundation import opaque_tokens
from idp.foundation.errors import FieldProblem, InvalidArgument


def expiration(
    requested: datetime | None,
    now: datetime,
    max_days: int,
    *,
    fallback: datetime,
    past_problem: FieldProblem,
) -> datetime:
    """Returns when a new token or key expires: at the `requested` instant, or without one at the
    maximum, or without a maximum at `fallback`.

    `max_days` of 0 is no maximum. Raises InvalidArgument: with the problem `past_problem` if the
    instant is over, and also if it is later than the maximum.
    """
    ends_at = requested or default(now, max_days, fallback)
    if ends_at <= now:
        raise InvalidArgument([past_problem])
    if is_too_late(ends_at, now, max_days):
        message = too_late_text(now, max_days)
        raise InvalidArgument([FieldProblem("expiration.too_late", "expirationDate", message)])
    return ends_at


def default(
    now: datetime, max_days: int, fallback: datetime = opaque_tokens.LASTS_UNTIL
) -> datetime:
    """Returns when a token or key expires if no instant is requested: at the maximum, or without
    one (`max_days` of 0) at `fallback`."""
    return latest(now, max_days) if max_days else fallback


def latest(now: datetime, max_days: int) -> datetime:
    """Returns the last instant at which a new token or key may expire; `max_days` of 0: year
    9999."""
    return now + timedelta(days=max_days) if max_days else opaque_tokens.LASTS_UNTIL


def is_too_late(ends_at: datetime, now: datetime, max_days: int) -> bool:
    """Returns whether the instant is later than the maximum allows."""
    return max_days > 0 and ends_at > latest(now, max_days)


def too_late_text(now: datetime, max_days: int) -> str:
    """Returns the text of the problem that an instant is later than the maximum, with the latest
    instant that is accepted."""
    return f"is later than {latest(now, max_days):%Y-%m-%dT%H:%M:%SZ}, {max_days} days from now"
