"""The reasons for which a call to another server failed, as texts for the log."""

from __future__ import annotations


class Failed(Exception):
    """The call was not made, or gave no usable result; the text is the reason, for the log."""


class NotAllowed(Failed):
    """The address belongs to a network that the service may not call."""


class TimedOut(Failed):
    """The other server did not answer in time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer within {seconds:g} s")
