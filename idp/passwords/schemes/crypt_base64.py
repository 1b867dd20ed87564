"""The base64 of Unix's crypt: an alphabet of its own, the least significant bits first."""

from __future__ import annotations

from typing import Final

ALPHABET: Final = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def encode(octets: bytes) -> str:
    """Returns the octets as text, without padding."""
    chunks = (octets[start : start + 3] for start in range(0, len(octets), 3))
    return "".join(_characters(chunk) for chunk in chunks)


def _characters(chunk: bytes) -> str:
    value = int.from_bytes(chunk, "little")
    return "".join(ALPHABET[value >> 6 * n & 63] for n in range(len(chunk) + 1))
