"""The master key: encryption of stored values, and keyed digests.

Values that the service has to read again (private keys, TOTP secrets, mail contents) are
encrypted; values that it only has to recognise, but that are too short for a plain digest, are
stored as a MAC. Each purpose has a key of its own, so a value encrypted for one is useless for
another.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from idp.foundation import base64url, private_files
from idp.foundation.errors import ConfigError, IdpError
from idp.foundation.randomness import Random, SystemRandom

KEY_BYTES: Final = 32
KEY_FILE: Final = "master.key"
_MAX_FILE_BYTES: Final = 1024
_NONCE_BYTES: Final = 12
_VERSION: Final = "v1."
_MISSING: Final = (
    "the master key {path} is missing, and the store can't be read without the one that it was"
    " made with: restore {path} from the back-up, or name the key by the setting master_key_file"
    " or master_key"
)
_FORMAT: Final = "32 random bytes as base64url without padding (43 characters)"


class WrongKey(IdpError):
    """An encrypted value belongs to another master key or purpose, or was altered."""

    error_code = "wrong_key"

    def __init__(self, purpose: str) -> None:
        super().__init__(
            f"a stored value ({purpose}) can't be opened: this is not the master key that it was"
            " sealed with, or the value was altered. Start the service with the master key that"
            " belongs to this store."
        )


class MasterKey:
    """Encrypts and authenticates values under the master key. Purposes are constants of the
    program.

    The encryption is AES-256-GCM with a key derived for the purpose (HKDF-SHA256), a random 96-bit
    nonce and the purpose as associated data. A purpose may encrypt 2^32 values.
    """

    def __init__(self, master_key: bytes, random: Random | None = None) -> None:
        if len(master_key) != KEY_BYTES:
            raise ValueError(f"a master key has {KEY_BYTES} bytes")
        self._master_key = master_key
        self._random = random or SystemRandom()
        # By use and purpose, of which there are few.
        self._subkeys: dict[tuple[str, str], bytes] = {}

    def seal(self, plaintext: bytes | str, purpose: str) -> str:
        """Returns the encrypted value as text, for `open` with the same key and purpose."""
        nonce = self._random.token_bytes(_NONCE_BYTES)
        cipher = AESGCM(self._subkey("seal", purpose))
        sealed = cipher.encrypt(nonce, _as_bytes(plaintext), purpose.encode())
        return _VERSION + base64url.encode(nonce + sealed)

    def open(self, sealed: str, purpose: str) -> bytes:
        """Returns the plaintext of a value that `seal` has encrypted for the same purpose. Raises
        WrongKey.
        """
        try:
            if not sealed.startswith(_VERSION):
                raise ValueError("unknown version")
            data = base64url.decode(sealed.removeprefix(_VERSION))
            cipher = AESGCM(self._subkey("seal", purpose))
            return cipher.decrypt(data[:_NONCE_BYTES], data[_NONCE_BYTES:], purpose.encode())
        except (ValueError, InvalidTag) as error:
            raise WrongKey(purpose) from error

    def mac(self, purpose: str, data: bytes | str) -> bytes:
        """Returns the HMAC-SHA256 of the data under the key for this purpose; compare two with
        `hmac.compare_digest`.
        """
        return hmac.digest(self._subkey("mac", purpose), _as_bytes(data), hashlib.sha256)

    def fingerprint(self) -> str:
        """Returns a check value by which a store recognises its master key; it reveals nothing of
        the key."""
        return base64url.encode(self._subkey("fingerprint", "")[:16])

    def _subkey(self, use: str, purpose: str) -> bytes:
        subkey = self._subkeys.get((use, purpose))
        if subkey is None:
            info = f"idp/v1/{use}/{purpose}".encode()
            # The master key is uniformly random, so that HKDF needs no salt (RFC 5869 3.1).
            derivation = HKDF(SHA256(), length=KEY_BYTES, salt=None, info=info)
            subkey = self._subkeys[use, purpose] = derivation.derive(self._master_key)
        return subkey


def master_key(
    data_dir: Path,
    random: Random,
    *,
    text: str | None = None,
    file: str | None = None,
    may_create: bool = True,
) -> bytes:
    """Returns the master key: the setting's value `text`, or the content of `file`, or else the
    key in the data directory, where it is created if missing.

    If several processes start concurrently, one creates the key and all use it. Raises
    ConfigError, also if the key is missing and `may_create` is false.
    """
    if text:
        return _parsed(text, "the setting master_key")
    if file:
        return _read(Path(file))
    path = data_dir / KEY_FILE
    try:
        if not path.exists():
            if not may_create:
                raise ConfigError([_MISSING.format(path=path)])
            _create(path, random)
    except OSError as error:
        raise ConfigError(
            [f"the master key {path} can't be made: {error.strerror}; check the directory"]
        ) from error
    return _read(path)


def _read(path: Path) -> bytes:
    text = private_files.read(path, "the master key", _MAX_FILE_BYTES)
    return _parsed(text.decode("ascii", "replace"), f"the master key {path}")


def _parsed(text: str, name: str) -> bytes:
    try:
        key = base64url.decode(text.strip())
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise ConfigError([f"{name} must hold {_FORMAT}"])
    return key


def _create(path: Path, random: Random) -> None:
    """Creates the file atomically, and keeps one that another process has created."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):  # another process has created a key, which is used
        _write(path, random.token_bytes(KEY_BYTES), random)


def _write(path: Path, key: bytes, random: Random) -> None:
    with private_files.new_file(path, random.id()) as file:
        file.write(base64url.encode(key).encode() + b"\n")


def store(data_dir: Path, key: bytes, random: Random) -> None:
    """Stores this master key in the data directory. Raises ConfigError if the directory has
    another one.
    """
    path = data_dir / KEY_FILE
    try:
        with contextlib.suppress(FileExistsError):
            _write(path, key, random)
    except OSError as error:
        raise ConfigError([f"the master key {path} can't be made: {error.strerror}"]) from error
    if _read(path) != key:
        raise ConfigError([f"there is another master key in {path}: move it away first"])


def _as_bytes(value: bytes | str) -> bytes:
    return value.encode() if isinstance(value, str) else value
