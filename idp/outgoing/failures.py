"""Why a call to another server failed, in words for the log."""

from __future__ import annotations


class Failed(Exception):
    """The call was not made, or nothing came of it; the text says why, for the log."""


class NotAllowed(Failed):
    """The address belongs to a network that is not open for calls."""


class TimedOut(Failed):
    """The other server did not answer in time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer within {seconds:g} s")
