"""The refusal of an attempt or a mail of which there were too many."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Literal, TypeAlias

from idp.foundation import metrics
from idp.foundation.errors import Busy

Cause: TypeAlias = Literal["paced", "network"]


class Throttled(Busy):
    """Too many attempts; `retry_after_seconds` says when the next one is admitted, and `cause`
    names the limit."""

    error_code = "sign_in.throttled"

    def __init__(self, message: str, *, retry_after_seconds: int, cause: Cause = "paced") -> None:
        super().__init__(message, retry_after_seconds=retry_after_seconds)
        self.cause = cause
        metrics.THROTTLED.count("network" if cause == "network" else "account")


def delayed(until: datetime, now: datetime) -> Throttled:
    """Returns the refusal of an attempt that may be repeated at the instant `until`."""
    return Throttled("too many attempts", retry_after_seconds=seconds_until(until, now))


def seconds_until(at: datetime, now: datetime) -> int:
    """Returns the whole seconds from `now` until an instant, at least 1."""
    return max(1, math.ceil((at - now).total_seconds()))
