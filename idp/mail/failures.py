"""Reasons why a message was not sent, without addresses."""

from __future__ import annotations

import re
from typing import Final

MAX_TEXT: Final = 200
_ADDRESS: Final = re.compile(r"[^\s<>\"',;:()]+@[^\s<>\"',;:()]+")
_UNPRINTABLE: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")


class NotSent(Exception):
    """The error of an attempt to send a message that failed: its `reason`. `is_final` is
    whether the server would refuse the same message again."""

    def __init__(self, reason: str, *, is_final: bool = False) -> None:
        self.reason = redacted(reason)
        self.is_final = is_final
        super().__init__(self.reason)


def redacted(reason: str) -> str:
    """Returns the text `reason` of a server as one short line in which e-mail addresses are
    replaced."""
    return _ADDRESS.sub("(address)", _UNPRINTABLE.sub(" ", reason)).strip()[:MAX_TEXT]
