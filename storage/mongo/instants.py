"""Instants of documents, which are read without a time zone and get UTC here.

The driver could add it, with two calls into Python for each instant. That takes longer than the
rest of decoding a document.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final

from bson.codec_options import CodecOptions

NAIVE: Final[CodecOptions[dict[str, Any]]] = CodecOptions(tz_aware=False)
_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - as the driver returns it
_EPOCH_IN_UTC: Final = _EPOCH.replace(tzinfo=UTC)


def make_aware(documents: Iterable[dict[str, Any]]) -> None:
    """Adds the time zone to every instant of the documents at any depth, in place."""
    for document in documents:
        for name, value in document.items():
            kind = type(value)
            if kind is datetime:
                document[name] = _EPOCH_IN_UTC + (value - _EPOCH)
            elif kind is dict:
                make_aware((value,))
            elif kind is list:
                _make_items_aware(value)


def _make_items_aware(items: list[Any]) -> None:
    for index, item in enumerate(items):
        if type(item) is datetime:
            items[index] = _EPOCH_IN_UTC + (item - _EPOCH)
        elif type(item) is dict:
            make_aware((item,))
        elif type(item) is list:
            _make_items_aware(item)
