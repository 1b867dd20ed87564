"""Random ids, tokens and one-time passwords, from one source that tests can seed."""

from __future__ import annotations

import itertools
import secrets
from abc import ABC, abstractmethod
from datetime import datetime
from typing import Final

from idp.foundation import base64url

ID_BITS: Final = 128
_BUFFER_BYTES: Final = 8192

# No 0 O o, 1 I i l L, which are confused when users read these out or copy them from paper.
UNAMBIGUOUS: Final = "ABCDEFGHJKMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789"


class Random(ABC):
    """A source of random bytes, and the forms in which this service uses them."""

    @abstractmethod
    def token_bytes(self, n: int) -> bytes:
        """Returns `n` random bytes."""

    def token(self, bits: int = 256) -> str:
        """Returns at least `bits` random bits as base64url text: for secrets."""
        return base64url.encode(self.token_bytes((bits + 7) // 8))

    def id(self) -> str:
        """Returns 128 random bits as 22 characters of base64url, the first a letter or a digit.

        A leading `-` would be taken for an option on a command line.
        """
        while not (id := self.token(ID_BITS))[0].isalnum():
            pass
        return id

    def ordered_id(self, now: datetime) -> str:
        """Returns a UUIDv7 (RFC 9562): later ids sort later, by milliseconds."""
        milliseconds = round(now.timestamp() * 1000)
        number = milliseconds << 80 | int.from_bytes(self.token_bytes(10), "big")
        number = number & ~(0xF << 76) | 0x7 << 76  # version
        number = number & ~(0x3 << 62) | 0x2 << 62  # variant
        digits = f"{number:032x}"
        parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
        return "-".join(parts)

    def one_time_password(self) -> str:
        """Returns 16 characters without look-alikes in groups of four: 92 bits, to be entered by a
        user."""
        code = self.characters(16, UNAMBIGUOUS)
        return "-".join(code[start : start + 4] for start in range(0, 16, 4))

    def characters(self, n: int, alphabet: str) -> str:
        """Returns `n` random characters, each from `alphabet`."""
        return "".join(self._character(alphabet) for _ in range(n))

    def _character(self, alphabet: str) -> str:
        # Larger bytes would favour the first characters.
        unbiased_limit = 256 - 256 % len(alphabet)
        while (byte := self.token_bytes(1)[0]) >= unbiased_limit:
            pass
        return alphabet[byte % len(alphabet)]


class BufferedRandom(Random):
    """Random bytes of another source, which are fetched from it for hundreds of tokens at once.

    Otherwise, most of the time of generating many ids would be spent in system calls. It
    must not be used by a process that forks: both would have the same bytes.
    """

    def __init__(self, source: Random) -> None:
        self._source = source
        self._buffer = b""
        self._at = 0

    def token_bytes(self, n: int) -> bytes:
        """Returns `n` random bytes."""
        if self._at + n > len(self._buffer):
            self._buffer, self._at = self._source.token_bytes(max(n, _BUFFER_BYTES)), 0
        token = self._buffer[self._at : self._at + n]
        self._at += n
        return token


class SequentialIds:
    """Ids that need not be secret: a random prefix and a count, for which a million ids take one
    system call.
    """

    def __init__(self, random: Random) -> None:
        self._prefix = random.id()
        self._count = itertools.count(1)

    def id(self) -> str:
        """Returns the next id, which neither this object nor another one has returned before."""
        return f"{self._prefix}.{next(self._count)}"


class SystemRandom(Random):
    """The operating system's generator, which is the only source of the running service."""

    def token_bytes(self, n: int) -> bytes:
        """Returns `n` random bytes."""
        return secrets.token_bytes(n)
