"""The header fields of requests and responses, in the form in which Tornado reads and writes
them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final

from tornado.httputil import HTTPHeaders

# Clients may send any name: the caches have so many, and none that is longer.
_MAX_NAMES: Final = 1000
_MAX_CACHED_BYTES: Final = 64


def _capitalized(name: str) -> str:
    return "-".join([word.capitalize() for word in name.split("-")])


@lru_cache(_MAX_NAMES)
def canonical(name: str) -> str:
    """Returns the name of a field as Tornado writes it: `Content-Type`."""
    return _capitalized(name)


@lru_cache(_MAX_NAMES)
def _short(name: bytes) -> str:
    return _capitalized(name.decode("latin-1"))


def _received(name: bytes) -> str:
    is_short = len(name) <= _MAX_CACHED_BYTES
    return _short(name) if is_short else _capitalized(name.decode("latin-1"))


class HeaderFields(HTTPHeaders):
    """Names of header fields and their values; `fields` are those of a request, as llhttp has
    parsed them.

    The values of a repeated field are joined by commas where one text is asked for (RFC 9110 5.3).
    Values are not checked here: those of a request have been, and those of a response are when it
    is sent.
    """

    def __init__(self, fields: Iterable[tuple[bytes, bytes]] = ()) -> None:
        self._joined: dict[str, str] = {}
        self._repeated: dict[str, list[str]] = {}
        for name, value in fields:
            key, text = _received(name), value.decode("latin-1")
            if key in self._joined:
                self._repeat(key, text)
            else:
                self._joined[key] = text

    def _repeat(self, key: str, value: str) -> None:
        self._repeated.setdefault(key, [self._joined[key]]).append(value)
        self._joined[key] += f",{value}"

    def _key(self, name: str) -> str:
        return name if name in self._joined else canonical(name)

    def get(self, name: str, default: Any = None) -> Any:
        value = self._joined.get(name)
        return self._joined.get(canonical(name), default) if value is None else value

    def add(self, name: str, value: str, **ignored: Any) -> None:
        key = canonical(name)
        if key in self._joined:
            self._repeat(key, value)
        else:
            self[key] = value

    def get_list(self, name: str) -> list[str]:
        key = self._key(name)
        values = [self._joined[key]] if key in self._joined else []
        return list(self._repeated.get(key, values))

    def get_all(self) -> Iterable[tuple[str, str]]:
        if not self._repeated:
            return self._joined.items()
        return [(name, value) for name in self._joined for value in self.get_list(name)]

    def copy(self) -> HeaderFields:
        headers = HeaderFields()
        headers._joined.update(self._joined)
        headers._repeated.update({name: list(values) for name, values in self._repeated.items()})
        return headers

    __copy__ = copy

    def __setitem__(self, name: str, value: str) -> None:
        key = canonical(name)
        self._joined[key] = value
        if self._repeated:
            self._repeated.pop(key, None)

    def __delitem__(self, name: str) -> None:
        key = self._key(name)
        del self._joined[key]
        self._repeated.pop(key, None)

    def __getitem__(self, name: str) -> str:
        return self._joined[self._key(name)]

    def __contains__(self, name: object) -> bool:
        return name in self._joined or (isinstance(name, str) and canonical(name) in self._joined)

    def __len__(self) -> int:
        return len(self._joined)

    def __iter__(self) -> Iterator[str]:
        return iter(self._joined)
