"""The master key: encryption of stored values, and keyed digests.

Values that the service has to read again (private keys, TOTP secrets, mail contents) are
encrypted; values that it only has to recognise, but that are too short for a plain digest, are
stored as a MAC. Each purpose has a key of its own, so a value encrypted for one is useless for
another.

While a master key is replaced, there are two: values are decrypted with either, and encrypted
with the one in charge. The keys of MACs do not change, because what a MAC was computed from is
not stored; nor do those of values that others keep (`seal_lasting`). They derive from the
installation's first master key for ever.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from idp.foundation import base64url
from idp.foundation.errors import Busy, IdpError
from idp.foundation.randomness import Random, SystemRandom

KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
_VERSION: Final = "v1."


class WrongKey(IdpError):
    """An encrypted value belongs to another master key or purpose, or was altered."""

    error_code = "wrong_key"

    def __init__(self, purpose: str) -> None:
        super().__init__(
            f"a stored value ({purpose}) can't be opened: this is not the master key that it was"
            " sealed with, or the value was altered. Start the service with the master key that"
            " belongs to this store."
        )


class SealingStopped(Busy):
    """This process does not know at this moment which master key is in charge."""

    def __init__(self) -> None:
        super().__init__(
            "this process has not been given the master key in charge, or could not read for a"
            " while which one that is",
            retry_after_seconds=10,
        )


class MasterKey:
    """Encrypts and authenticates values under the master key. Purposes are constants of the
    program.

    The encryption is AES-256-GCM with a key derived for the purpose (HKDF-SHA256), a random 96-bit
    nonce and the purpose as associated data. A purpose may encrypt 2^32 values.

    `others` are further keys that decrypt. `reread` returns the keys that the process is given by
    now: it is called for a value that none of those it has can decrypt.
    """

    def __init__(
        self,
        master_key: bytes,
        random: Random | None = None,
        *,
        others: Sequence[bytes] = (),
        mac_root: bytes | None = None,
        reread: Callable[[], Sequence[bytes]] | None = None,
    ) -> None:
        self._random = random or SystemRandom()
        self._in_charge = _Key(master_key)
        self._mac_root = _Key(mac_root or master_key)
        self._by_fingerprint = {self._in_charge.fingerprint: self._in_charge}
        self._forgotten: set[str] = set()
        self._may_seal = True
        self._is_followed: Callable[[], bool] = lambda: True
        self._reread = reread
        self.add(others)

    def seal(self, plaintext: bytes | str, purpose: str) -> str:
        """Returns the encrypted value as text, for `open` with the same key and purpose. Raises
        SealingStopped after `stop_sealing`, and while the condition of `seal_while` is false."""
        if not self._may_seal or not self._is_followed():
            raise SealingStopped
        return self._sealed_by(self._in_charge, plaintext, purpose)

    def open(self, sealed: str, purpose: str) -> bytes:
        """Returns the plaintext of a value that `seal` has encrypted for the same purpose. Raises
        WrongKey.
        """
        plaintext = self._opened(sealed, purpose)
        if plaintext is None and self._reread and self.add(self._reread()):
            plaintext = self._opened(sealed, purpose)
        if plaintext is None:
            raise WrongKey(purpose)
        return plaintext

    def seal_lasting(self, plaintext: bytes | str, purpose: str) -> str:
        """Returns the encrypted value as text, for `open_lasting`: one that others keep, and that
        can't be encrypted again, so its key is never replaced."""
        return self._sealed_by(self._mac_root, plaintext, purpose)

    def open_lasting(self, sealed: str, purpose: str) -> bytes:
        """Returns the plaintext of a value that `seal_lasting` has encrypted for the same purpose.
        Raises WrongKey."""
        plaintext = self._mac_root.opened(sealed, purpose)
        if plaintext is None:
            raise WrongKey(purpose)
        return plaintext

    def resealed(self, sealed: str, purpose: str) -> str | None:
        """Returns the value encrypted with the key in charge; None if it is already. Raises
        WrongKey."""
        if self.is_by_key_in_charge(sealed, purpose):
            return None
        return self.seal(self.open(sealed, purpose), purpose)

    def is_by_key_in_charge(self, sealed: str, purpose: str) -> bool:
        """Returns whether the key in charge has encrypted this value."""
        return self._in_charge.opened(sealed, purpose) is not None

    def mac(self, purpose: str, data: bytes | str) -> bytes:
        """Returns the HMAC-SHA256 of the data under the key for this purpose; compare two with
        `hmac.compare_digest`.
        """
        return hmac.digest(self._mac_root.subkey("mac", purpose), _as_bytes(data), hashlib.sha256)

    def fingerprint(self) -> str:
        """Returns a check value by which a store recognises the key in charge; it reveals nothing
        of the key."""
        return self._in_charge.fingerprint

    def add(self, keys: Sequence[bytes]) -> bool:
        """Adds keys that decrypt; returns whether one of them is new."""
        added = {key.fingerprint: key for key in map(_Key, keys)}
        added = {each: key for each, key in added.items() if each not in self._forgotten}
        is_any_new = not added.keys() <= self._by_fingerprint.keys()
        self._by_fingerprint = added | self._by_fingerprint
        return is_any_new

    @property
    def is_only_one(self) -> bool:
        """Whether this has no key but the one in charge."""
        return len(self._by_fingerprint) == 1

    def has(self, fingerprint: str) -> bool:
        """Returns whether this has the key with that fingerprint, perhaps since just now."""
        if fingerprint not in self._by_fingerprint and self._reread:
            self.add(self._reread())
        return fingerprint in self._by_fingerprint

    def use(self, fingerprint: str) -> None:
        """Puts the key with that fingerprint in charge. Raises KeyError if this does not have
        it."""
        self._in_charge = self._by_fingerprint[fingerprint]
        self._may_seal = True

    def stop_sealing(self) -> None:
        """Encrypts nothing more until the next `use`: another key is in charge, and what this one
        encrypts could soon not be read by any process."""
        self._may_seal = False

    def seal_while(self, is_followed: Callable[[], bool]) -> None:
        """Encrypts only while `is_followed` returns True: whether this process knows that its key
        is still in charge."""
        self._is_followed = is_followed

    def forget(self, fingerprints: Iterable[str]) -> None:
        """Decrypts nothing more with these keys, which may be in the wrong hands, even if they are
        given again. The key in charge stays."""
        self._forgotten = set(fingerprints) - {self._in_charge.fingerprint}
        for each in self._forgotten:
            self._by_fingerprint.pop(each, None)

    def root_sealed_with(self, fingerprint: str, purpose: str) -> str:
        """Returns the root of the keys of MACs, encrypted with the key of that fingerprint. Raises
        KeyError."""
        other = MasterKey(self._by_fingerprint[fingerprint].secret, self._random)
        return other.seal(self._mac_root.secret, purpose)

    def _sealed_by(self, key: _Key, plaintext: bytes | str, purpose: str) -> str:
        nonce = self._random.token_bytes(_NONCE_BYTES)
        cipher = AESGCM(key.subkey("seal", purpose))
        sealed = cipher.encrypt(nonce, _as_bytes(plaintext), purpose.encode())
        return _VERSION + base64url.encode(nonce + sealed)

    def _opened(self, sealed: str, purpose: str) -> bytes | None:
        keys = [self._in_charge, *self._by_fingerprint.values()]
        plaintexts = (key.opened(sealed, purpose) for key in dict.fromkeys(keys))
        return next((each for each in plaintexts if each is not None), None)


def fingerprint(master_key: bytes) -> str:
    """Returns the fingerprint of a master key, as `MasterKey.fingerprint` does."""
    return _Key(master_key).fingerprint


class _Key:
    """The bytes of a key, and the keys that are derived from it."""

    def __init__(self, secret: bytes) -> None:
        if len(secret) != KEY_BYTES:
            raise ValueError(f"a master key has {KEY_BYTES} bytes")
        self.secret: Final = secret
        # By use and purpose, of which there are few.
        self._subkeys: dict[tuple[str, str], bytes] = {}

    @property
    def fingerprint(self) -> str:
        return base64url.encode(self.subkey("fingerprint", "")[:16])

    def subkey(self, use: str, purpose: str) -> bytes:
        """Returns the key for a use and a purpose."""
        subkey = self._subkeys.get((use, purpose))
        if subkey is None:
            info = f"idp/v1/{use}/{purpose}".encode()
            # The master key is uniformly random, so that HKDF needs no salt (RFC 5869 3.1).
            derivation = HKDF(SHA256(), length=KEY_BYTES, salt=None, info=info)
            subkey = self._subkeys[use, purpose] = derivation.derive(self.secret)
        return subkey

    def opened(self, sealed: str, purpose: str) -> bytes | None:
        """Returns the plaintext of a value; None if it was not encrypted with this key for this
        purpose, or was altered."""
        if not sealed.startswith(_VERSION):
            return None
        cipher = AESGCM(self.subkey("seal", purpose))
        try:
            content = base64url.decode(sealed.removeprefix(_VERSION))
            return cipher.decrypt(content[:_NONCE_BYTES], content[_NONCE_BYTES:], purpose.encode())
        except (ValueError, InvalidTag):
            return None


def _as_bytes(value: bytes | str) -> bytes:
    return value.encode() if isinstance(value, str) else value
