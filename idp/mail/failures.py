"""Reasons why a message was not sent, without addresses."""

from __future__ import annotations

import re
from typing import Final

MAX_TEXT: Final = 200
_ADDRESS: Final = re.compile(r"[^\s<>\"',;:()]+@[^\s<>\"',;:()]+")
_UNPRINTABLE: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")


class NotSent(Exception):
    """A failed attempt to send a message. `is_final`: the same message would be refused again."""

    def __init__(self, why: str, *, is_final: bool = False) -> None:
        self.why = redacted(why)
        self.is_final = is_final
        super().__init__(self.why)


def redacted(why: str) -> str:
    """Returns the text of a server as one short line without addresses."""
    return _ADDRESS.sub("(address)", _UNPRINTABLE.sub(" ", why)).strip()[:MAX_TEXT]
