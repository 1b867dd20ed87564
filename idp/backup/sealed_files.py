"""A file that only its passphrase opens, written and read as a stream.

The header holds the cost of argon2id and a salt, from which the key is derived with the
passphrase. Chunks of 64 KiB follow, of which the last may be shorter, each sealed by AES-256-GCM:
the nonce is the chunk's number and whether it is the last, the header is associated data. So a
file of which any byte was changed, removed, added or moved is refused (the construction STREAM of
Hoang, Reyhanitabar, Rogaway and Vizar, as `age` uses it).
"""

from __future__ import annotations

import hashlib
import hmac
import unicodedata
from collections.abc import Iterator
from struct import Struct
from typing import BinaryIO, Final, NamedTuple

from argon2.low_level import Type, hash_secret_raw
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from idp.foundation.errors import IdpError
from idp.foundation.randomness import Random

CHUNK: Final = 64 * 1024
TAG: Final = 16
MIN_PASSPHRASE: Final = 12

_MAGIC: Final = b"idp-bak\x01"
_KEY_BYTES: Final = 32
_SALT_BYTES: Final = 16
_PARAMETERS: Final = Struct(f">8sIII{_SALT_BYTES}s")
_CHECKSUM_BYTES: Final = 8
_VERIFIER_BYTES: Final = 16
HEADER: Final = _PARAMETERS.size + _CHECKSUM_BYTES + _VERIFIER_BYTES


class Cost(NamedTuple):
    """Parameters of argon2id: memory in KiB, passes, lanes."""

    memory_kib: int
    passes: int
    lanes: int


# The second choice of RFC 9106, section 4. A file with parameters beyond the bounds is refused.
COST: Final = Cost(64 * 1024, 3, 4)
_BOUNDS: Final = Cost(256 * 1024, 16, 16)


class DamagedBackup(IdpError):
    """The error that a file is no backup, or was changed after it was written."""

    error_code = "backup.damaged"


class WrongPassphrase(IdpError):
    """The error that a file was sealed with another passphrase."""

    error_code = "backup.passphrase"


class SealedWriter:
    """A writer that seals what is written to it into `file`.

    `finish` seals the last chunk; a file without it is refused. `cost` is that of argon2id, `COST`
    by default.
    """

    def __init__(
        self, file: BinaryIO, passphrase: str, random: Random, cost: Cost | None = None
    ) -> None:
        salt = random.token_bytes(_SALT_BYTES)
        parameters = _PARAMETERS.pack(_MAGIC, *(cost or COST), salt)
        root_key = _root_key(passphrase, salt, cost or COST)
        self._header = (
            parameters + _checksum(parameters) + _derive(root_key, "proof", _VERIFIER_BYTES)
        )
        self._cipher = AESGCM(_derive(root_key, "chunks", _KEY_BYTES))
        self._file = file
        self._buffer = bytearray()
        self._number = 0
        file.write(self._header)

    def write(self, data: bytes) -> None:
        self._buffer += data
        # The last chunk is sealed as such, so a full one waits for the next byte.
        while len(self._buffer) > CHUNK:
            self._seal(bytes(self._buffer[:CHUNK]), is_last=False)
            del self._buffer[:CHUNK]

    def finish(self) -> None:
        self._seal(bytes(self._buffer), is_last=True)

    def _seal(self, chunk: bytes, *, is_last: bool) -> None:
        nonce = _nonce(self._number, is_last)
        self._file.write(self._cipher.encrypt(nonce, chunk, self._header))
        self._number += 1


def decrypted(file: BinaryIO, passphrase: str) -> Iterator[bytes]:
    """Yields the decrypted chunks of a sealed file, each after its authentication, and checks that
    the file is complete.

    Raises DamagedBackup, WrongPassphrase.
    """
    header = _read(file, HEADER)
    cipher = AESGCM(_key(header, passphrase))
    sealed, number = _read(file, CHUNK + TAG), 0
    while True:
        next_sealed = _read(file, CHUNK + TAG)
        try:
            yield cipher.decrypt(_nonce(number, not next_sealed), sealed, header)
        except (InvalidTag, ValueError):
            raise DamagedBackup(_DAMAGED) from None
        if not next_sealed:
            return
        sealed, number = next_sealed, number + 1


def _read(file: BinaryIO, size: int) -> bytes:
    try:
        return file.read(size)
    except OSError as error:
        raise DamagedBackup(f"the backup can't be read: {error.strerror}") from error


_DAMAGED: Final = "the backup is damaged: it was changed or truncated"


def _key(header: bytes, passphrase: str) -> bytes:
    parameters, checksum = header[: _PARAMETERS.size], header[_PARAMETERS.size : -_VERIFIER_BYTES]
    if not header.startswith(_MAGIC[:-1]):
        raise DamagedBackup("this is no backup of this service")
    if len(header) < HEADER or checksum != _checksum(parameters):
        raise DamagedBackup(_DAMAGED)
    magic, memory, passes, lanes, salt = _PARAMETERS.unpack(parameters)
    if magic != _MAGIC:
        raise DamagedBackup("the backup has the format of a later version of this service")
    cost = Cost(memory, passes, lanes)
    # The cost is read before anything is authenticated: an unbounded one could exhaust memory.
    if not all(1 <= parameter <= bound for parameter, bound in zip(cost, _BOUNDS, strict=True)):
        raise DamagedBackup(
            "the key derivation of the backup is more costly than this service allows"
        )
    root_key = _root_key(passphrase, salt, cost)
    # Compared separately, so that a wrong passphrase is reported as such and not as damage.
    if not hmac.compare_digest(
        _derive(root_key, "proof", _VERIFIER_BYTES), header[-_VERIFIER_BYTES:]
    ):
        raise WrongPassphrase("this is not the passphrase that the backup was made with")
    return _derive(root_key, "chunks", _KEY_BYTES)


def _root_key(passphrase: str, salt: bytes, cost: Cost) -> bytes:
    # The same characters may be entered composed or decomposed.
    secret = unicodedata.normalize("NFC", passphrase).encode()
    memory = max(cost.memory_kib, 8 * cost.lanes)  # the minimum of argon2
    return hash_secret_raw(secret, salt, cost.passes, memory, cost.lanes, _KEY_BYTES, Type.ID)


def _derive(root_key: bytes, purpose: str, length: int) -> bytes:
    info = f"idp/backup/v1/{purpose}".encode()
    return HKDF(SHA256(), length=length, salt=None, info=info).derive(root_key)


def _checksum(parameters: bytes) -> bytes:
    """Returns a checksum that distinguishes damage from a wrong passphrase; it authenticates
    nothing.
    """
    return hashlib.sha256(parameters).digest()[:_CHECKSUM_BYTES]


def _nonce(number: int, is_last: bool) -> bytes:
    return number.to_bytes(11, "big") + bytes([is_last])
