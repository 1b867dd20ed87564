"""Request parameters as the protocol reads them: present once, or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from idp.oauth.errors import InvalidRequest

MAY_REPEAT: Final = {"audience", "resource"}  # RFC 8693 2.1, RFC 8707 2
_PLAIN = re.compile(r"[a-z_]{1,30}")


class Params:
    """Decoded name-value pairs in the order in which they were sent.

    A parameter without a value is treated as omitted (RFC 6749 3.1). A repeated one is an error as
    soon as it is read, so that no code can see only one of two values.
    """

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in pairs:
            self._values.setdefault(name, []).append(value)

    def get(self, name: str) -> str | None:
        """Returns the value, or None. Raises `InvalidRequest` when it was sent more than once."""
        values = self._values.get(name)
        if values is None:
            return None
        if len(values) > 1:
            raise InvalidRequest(f"{name} was sent more than once")
        return values[0] or None

    def required(self, name: str) -> str:
        """Returns the value. Raises `InvalidRequest` when it is missing, empty or repeated."""
        value = self.get(name)
        if value is None:
            raise InvalidRequest(f"{name} is missing")
        return value

    def all(self, name: str) -> list[str]:
        """Returns every value of a parameter that may be repeated, without the empty ones."""
        return [value for value in self._values.get(name, ()) if value]

    def if_once(self, name: str) -> str | None:
        """Returns the value of an optional parameter; None if it is missing or was sent more than
        once."""
        return None if self.is_repeated(name) else self.get(name)

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def is_repeated(self, name: str) -> bool:
        """Returns whether the parameter was sent more than once."""
        return len(self._values.get(name, ())) > 1

    def refuse_repeated(self) -> None:
        """Raises `InvalidRequest` when any parameter, known or not, was sent more than once."""
        for name in self._values.keys() - MAY_REPEAT:
            if self.is_repeated(name):
                # An unusual name could be a secret in the wrong place, so it is not repeated in
                # the response.
                displayed = name if _PLAIN.fullmatch(name) else "a parameter"
                raise InvalidRequest(f"{displayed} was sent more than once")

    def pairs(self) -> list[tuple[str, str]]:
        """Returns all names and values, those of the same name one after another."""
        return [(name, value) for name, values in self._values.items() for value in values]
