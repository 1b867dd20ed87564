"""Sealed requests: records that wait for a user, in the address of a page instead of the store.

So a request from an unknown browser that is not followed by another needs no space in the store.
It can be read by this installation alone (AES-256-GCM under the master key), and only for the
purpose that it was sealed for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from typing import Any, Final, TypeVar

import msgspec
from msgspec import NODEFAULT, structs

from idp.keys.master_key import WrongKey
from idp.service import Service
from storage import Record

# The head of a redirect to one fits into 4,096 octets, as much as nginx reads by default.
MAX_CHARACTERS: Final = 3000
EXTRA_LIFETIME: Final = timedelta(
    minutes=5
)  # of a stored record over its sealed form; clocks may differ by that much
_FORM: Final = re.compile(r"v1\.[A-Za-z0-9_-]+", re.ASCII)

R = TypeVar("R", bound=Record)


def seal(
    service: Service, record: Record, purpose: str, *, reserved_characters: int = 0
) -> str | None:
    """Returns a record as sealed text that fits into an address.

    Returns None if the text and `reserved_characters` more characters would be longer than
    `MAX_CHARACTERS`. It can be read for the same `purpose` only.
    """
    text = service.master_key.seal(msgspec.json.encode(_without_defaults(record)), purpose)
    return text if len(text) + reserved_characters <= MAX_CHARACTERS else None


def is_sealed(text: str) -> bool:
    """Returns whether the text has the form of a sealed_request. No record's id has that form."""
    return len(text) <= MAX_CHARACTERS and _FORM.fullmatch(text) is not None


def read(service: Service, text: str, kind: type[R], purpose: str) -> R | None:
    """Returns the record of type `kind` in a sealed request; None unless this installation sealed
    it for this `purpose`."""
    if not is_sealed(text):
        return None
    try:
        return msgspec.json.decode(service.master_key.open(text, purpose), type=kind)
    except (WrongKey, msgspec.MsgspecError):  # the latter: another release sealed it
        return None


def _without_defaults(record: Record) -> dict[str, Any]:
    # Fields with their default are left out, because the length of an address is limited.
    defaults, values = _defaults(type(record)), structs.asdict(record)
    return {name: value for name, value in values.items() if value != defaults[name]}


@cache
def _defaults(kind: type[Record]) -> Mapping[str, Any]:
    return {field.name: _default(field) for field in structs.fields(kind)}


def _default(field: structs.FieldInfo) -> Any:
    factory = field.default_factory
    return field.default if factory is NODEFAULT else factory()
