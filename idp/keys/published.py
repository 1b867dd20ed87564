"""Public documents that rarely change: encoded once, and then sent as they are."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import NamedTuple

import msgspec


class Published(NamedTuple):
    """A document as it is sent: its JSON, and the entity tag (RFC 9110 8.8.3) of that."""

    body: bytes
    etag: str


class LastPublished:
    """The last document that was encoded, and its source."""

    def __init__(self) -> None:
        self._source: object = None
        self._published: Published | None = None

    def of(self, source: object, make: Callable[[], object]) -> Published:
        """Returns the document that `make` returns for `source`; `make` is called only if the
        source differs from the last one."""
        if self._published is None or source != self._source:
            body = msgspec.json.encode(make())
            etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
            self._source, self._published = source, Published(body, etag)
        return self._published
