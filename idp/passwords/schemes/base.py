"""The structs, errors and strict parsers that all formats of password hashes use."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct

from idp.foundation.errors import IdpError
from idp.foundation.randomness import Random

_NUMBER = re.compile(r"0|[1-9][0-9]{0,9}")


class UnreadableHash(IdpError):
    """An encoded password hash that is not accepted; the message names the broken rule."""

    error_code = "password_hash.unreadable"

    def __init__(self, reason: str) -> None:
        super().__init__(f"the password hash can't be used: {reason}")


class WeakHash(UnreadableHash):
    """A hash from another system that is too cheap to guess; the message names the bound."""

    error_code = "password_hash.too_weak"


class Strength(NamedTuple):
    """The cost of one guess at a hash: its `value`, and the name of the `setting` whose minimum an
    imported hash must reach."""

    setting: str
    value: int


class ParsedHash(Struct, frozen=True):
    """A stored hash that was parsed and is within bounds.

    `verify` returns whether a password (in bytes) belongs to it; it takes long and must not run on
    the event loop. `seconds` is how long it takes, estimated, on one core of a current machine.
    """

    scheme: str
    # The scheme's parameters; if they differ from the current ones, the password is hashed again.
    cost: tuple[int, ...]
    verify: Callable[[bytes], bool]
    seconds: float
    strength: Strength | None = None  # None: the format has no parameters


Reader = Callable[[str], ParsedHash]


class Recipe(Struct, frozen=True):
    """A way to hash new passwords: `hash` returns the encoded hash of a password (in bytes) and
    takes long.

    `decoy` returns the encoded hash of a password that is not known; verifying it costs as much as
    verifying a real one. `max_bytes` is the longest password that the scheme accepts, None if any
    length.
    """

    scheme: str
    cost: tuple[int, ...]
    hash: Callable[[bytes, Random], str]
    decoy: Callable[[Random], str]
    max_bytes: int | None = None


def number(text: str, name: str, minimum: int, maximum: int) -> int:
    """Returns a decimal number from `least` to `most` in ASCII without leading zeros; `name` is
    its name in messages.

    Raises UnreadableHash.
    """
    if not _NUMBER.fullmatch(text) or not minimum <= int(text) <= maximum:
        raise UnreadableHash(f"{name} must be from {minimum} to {maximum}")
    return int(text)


def base64_bytes(text: str, name: str, minimum: int, maximum: int) -> bytes:
    """Returns the bytes of canonical standard base64 without padding, from `least` to `most` of
    them.

    `name` is their name in messages. Raises UnreadableHash.
    """
    value = _decoded(text + "=" * (-len(text) % 4))
    if unpadded(value) != text:
        raise UnreadableHash(f"{name} is not base64 without padding")
    return _of_length(value, name, minimum, maximum)


def padded_base64_bytes(text: str, name: str, minimum: int, maximum: int) -> bytes:
    """Returns the bytes of canonical standard base64 with padding, from `least` to `most` of them.

    `name` is their name in messages. Raises UnreadableHash.
    """
    value = _decoded(text)
    if base64.b64encode(value).decode("ascii") != text:
        raise UnreadableHash(f"{name} is not base64 with its padding")
    return _of_length(value, name, minimum, maximum)


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""


def _of_length(value: bytes, name: str, minimum: int, maximum: int) -> bytes:
    if not minimum <= len(value) <= maximum:
        size = str(maximum) if minimum == maximum else f"{minimum} to {maximum}"
        raise UnreadableHash(f"{name} must have {size} bytes")
    return value


def unpadded(value: bytes) -> str:
    """Returns the bytes as standard base64 without padding."""
    return base64.b64encode(value).rstrip(b"=").decode("ascii")
