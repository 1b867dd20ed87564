"""yescrypt, the scheme of /etc/shadow in current Linux distributions: `$y$j9T$salt$hash`.

It is verified by the system's libcrypt (libxcrypt). If that is missing or too old, the hash is
refused.
"""

from __future__ import annotations

import ctypes
import hmac
import re
from functools import cache
from typing import Final

from idp.passwords.schemes import crypt_base64
from idp.passwords.schemes.base import ParsedHash, UnreadableHash

MAX_BYTES: Final = 128 * 1024 * 1024
_NAMES: Final = ("libcrypt.so.1", "libcrypt.so.2", "libcrypt.dylib")
_BUFFER_BYTES: Final = 256 * 1024  # at least struct crypt_data of any libcrypt
_USABLE: Final = 0  # CRYPT_SALT_OK

# The form that every crypt_gensalt writes: flavour j, N and r, each in one character. The hash's
# last character holds 4 bits.
_ENCODED: Final = re.compile(
    r"(\$y\$j([./0-9A-Z])([5T])\$[./A-Za-z0-9]{2,86})\$([./A-Za-z0-9]{42}[./0-9A-D])"
)
_SECONDS_PER_BLOCK: Final = 1.5e-7
_BLOCKS: Final = {"5": 8, "T": 32}


def read(encoded: str) -> ParsedHash:
    """Returns the hash, ready to verify. Raises UnreadableHash."""
    match = _ENCODED.fullmatch(encoded)
    if not match:
        raise UnreadableHash("yescrypt is written $y$j9T$salt$ and 43 characters")
    exponent = crypt_base64.ALPHABET.index(match[2]) + 1
    if 128 * _BLOCKS[match[3]] << exponent > MAX_BYTES:
        raise UnreadableHash(f"it would take more than {MAX_BYTES} bytes of memory")
    library = usable_library()
    if library is None:
        raise UnreadableHash("yescrypt needs libxcrypt, which this system doesn't have")
    expected = encoded.encode("ascii")
    cost = (exponent, _BLOCKS[match[3]])
    seconds = (_BLOCKS[match[3]] << exponent) * _SECONDS_PER_BLOCK
    return ParsedHash(
        "yescrypt", cost, lambda password: _verify(library, expected, password), seconds
    )


@cache
def usable_library() -> ctypes.CDLL | None:
    """Returns the system's libcrypt if it supports yescrypt; else None."""
    for name in _NAMES:
        try:
            library = ctypes.CDLL(name)
            if library.crypt_checksalt(b"$y$j9T$") == _USABLE:
                library.crypt_r.restype = ctypes.c_char_p
                return library
        except (OSError, AttributeError):  # no library of that name, or one without yescrypt
            continue
    return None


def _verify(library: ctypes.CDLL, expected: bytes, password: bytes) -> bool:
    if b"\0" in password:  # C's strings end there
        return False
    buffer = ctypes.create_string_buffer(_BUFFER_BYTES)
    computed: bytes | None = library.crypt_r(password, expected, buffer)
    return computed is not None and hmac.compare_digest(computed, expected)
