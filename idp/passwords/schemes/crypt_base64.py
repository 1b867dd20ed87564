"""The base64 of Unix's crypt: an alphabet of its own, the least significant bits first."""

from __future__ import annotations

from typing import Final

ALPHABET: Final = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def encode(data: bytes) -> str:
    """Returns the bytes in crypt's base64, without padding."""
    chunks = (data[start : start + 3] for start in range(0, len(data), 3))
    return "".join(_characters(chunk) for chunk in chunks)


def _characters(chunk: bytes) -> str:
    value = int.from_bytes(chunk, "little")
    return "".join(ALPHABET[value >> 6 * n & 63] for n in range(len(chunk) + 1))
