"""The installation's keys in each process: which one signs, which verify, which are published.

States: *next* is published but not used yet, so that caches have it before it signs; *active*
signs or encrypts; *retired* remains published until the last token it signed has expired, and
verifies `id_token_hint`s for 120 days; *removed* is not trusted any more. The transitions are in
`idp/oauth/key_rotation.py`, and so is `ensure`, which creates the keys of an algorithm when an
application is registered for it.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec
from cryptography.hazmat.primitives import serialization
from jwcrypto.jwk import JWK

from idp.foundation.clock import Clock
from idp.foundation.randomness import Random
from idp.keys.algorithms import ALGORITHMS, PrivateKey, PublicKey
from idp.keys.master_key import MasterKey
from idp.keys.published import LastPublished, Published
from idp.limits.token_bucket import TokenBucket
from idp.records import SIGNING_KEYS, SigningAlgorithm, SigningKey, sealed_fields
from storage import Store

CACHE_SECONDS: Final = 5.0
PUBLISHED_CACHE_SECONDS: Final = 300  # how long clients may cache the published key set
HINT_DAYS: Final = 120
SEALING: Final = "A256GCM"
_UNKNOWN_BURST: Final = 10  # unknown kids that are looked up at once; then one a second
_PURPOSE: Final = sealed_fields.PRIVATE_KEY.purpose
_PUBLIC_MEMBERS: Final = ("kty", "crv", "x", "y", "n", "e")
_NEVER: Final = -math.inf
_PAGE: Final = 50


class LoadedKey(msgspec.Struct, frozen=True):
    """A stored key, parsed once. `symmetric` is set for an encryption key, the others for a
    signing key."""

    record: SigningKey
    private: PrivateKey | None = None
    public: PublicKey | None = None
    symmetric: bytes | None = None
    jwk: Mapping[str, Any] | None = None

    @property
    def kid(self) -> str:
        return self.record.id


class KeyRing:
    """This process's copy of the installation's keys, at most 5 s old; for an unknown key id the
    store is read earlier.
    """

    def __init__(
        self, store: Store, master_key: MasterKey, clock: Clock, token_seconds: int
    ) -> None:
        self._store = store
        self._master_key = master_key
        self._clock = clock
        # A process continues to sign with a retired key until it has read the keys again.
        self.published_for = timedelta(seconds=token_seconds + CACHE_SECONDS)
        self._loaded: dict[str, LoadedKey] = {}
        self._active: dict[str, LoadedKey] = {}
        self._read_at = _NEVER
        self._read_clock = clock.now()
        self._reading = asyncio.Lock()
        self._records: list[SigningKey] = []
        self._key_set = LastPublished()
        self._unknown_kid_rate = TokenBucket(burst=_UNKNOWN_BURST, per_second=1)

    async def signing(self, algorithm: SigningAlgorithm = "RS256") -> LoadedKey:
        """Returns the key that signs with this algorithm now. Raises LookupError if there never
        was one."""
        return await self._active_key(algorithm)

    async def sealing(self) -> LoadedKey:
        """Returns the key that encrypts opaque access tokens now."""
        return await self._active_key(SEALING)

    async def find(self, kid: str) -> LoadedKey | None:
        """Returns the key of that id, in any state but removed; None if there is none."""
        await self._refresh(CACHE_SECONDS)
        if kid not in self._loaded and self._unknown_kid_rate.allows(self._clock.now()):
            await self._refresh(0.0)
        return self._loaded.get(kid)

    async def for_hints(self, kid: str) -> LoadedKey | None:
        """Returns the key of that id if it may verify an `id_token_hint`, also an expired one:
        while it is not removed, and for 120 days after it was retired; else None."""
        key = await self.find(kid)
        if key and self._is_retired_for(key, timedelta(days=HINT_DAYS)):
            return None
        return key

    async def for_tokens(self, kid: str) -> LoadedKey | None:
        """Returns the key of that id, to verify or decrypt a token, if there may be tokens of it
        that have not expired; else None."""
        await self.find(kid)
        return self.loaded_for_tokens(kid)

    def loaded_for_tokens(self, kid: str) -> LoadedKey | None:
        """Returns what `for_tokens` does, of the keys that are in memory."""
        key = self._loaded.get(kid)
        return None if key and self._is_retired_for(key, self.published_for) else key

    @property
    def is_loaded(self) -> bool:
        """Whether keys are in memory."""
        return bool(self._loaded)

    async def key_set(self) -> Published:
        """Returns the JSON Web Key Set (RFC 7517 5), as `published` has the keys. It is encoded
        once for each change."""
        keys = await self.published()
        return self._key_set.of(tuple(key["kid"] for key in keys), lambda: {"keys": keys})

    async def published(self) -> list[Mapping[str, Any]]:
        """Returns the public keys as JWKs (RFC 7517), the active ones first.

        They are read from the store at each call: another process may have begun to sign with a
        key.
        """
        await self._refresh(0.0)
        keys = [key for key in self._loaded.values() if key.jwk]
        keys = [key for key in keys if not self._is_retired_for(key, self.published_for)]
        order = {"active": 0, "next": 1, "retired": 2}
        keys.sort(key=lambda key: (order[key.record.state], key.record.created_at))
        return [key.jwk for key in keys if key.jwk]

    def forget(self) -> None:
        """Drops the copy of the keys, which this process has changed; the next use reads the
        store.
        """
        self._read_at = _NEVER

    def _is_retired_for(self, key: LoadedKey, age: timedelta) -> bool:
        return key.record.state == "retired" and key.record.changed_at + age < self._clock.now()

    async def _active_key(self, algorithm: str) -> LoadedKey:
        await self._refresh(CACHE_SECONDS)
        if algorithm not in self._active:  # another process may have made it since
            await self._refresh(0.0)
        if algorithm not in self._active:
            raise LookupError(f"no active {algorithm} key: none was made on this store")
        return self._active[algorithm]

    async def _refresh(self, max_age_seconds: float) -> None:
        """Ensures a read of the store that began at most this number of seconds ago, or after this
        call."""
        due_at = time.monotonic() - max_age_seconds
        if self._has_read_since(due_at):
            return
        async with self._reading:
            if self._has_read_since(due_at):
                return
            # The age is that of the start of the read, because it may miss later changes.
            began_at, self._read_clock = time.monotonic(), self._clock.now()
            records = await self._read_all()
            if records != self._records:
                self._replace_keys(records)
            self._read_at = began_at

    async def _read_all(self) -> list[SigningKey]:
        """Returns all stored keys: so few that they are one page, as a rule."""
        page = await self._store.find(SIGNING_KEYS, limit=_PAGE)
        records = page.records
        while page.after is not None:
            page = await self._store.find(SIGNING_KEYS, limit=_PAGE, after=page.after)
            records += page.records
        return records

    def _replace_keys(self, records: list[SigningKey]) -> None:
        keys = [self._reuse(record) for record in records if record.state != "removed"]
        self._records = records
        self._loaded = {key.kid: key for key in keys}
        self._active = {key.record.algorithm: key for key in keys if key.record.state == "active"}

    def _has_read_since(self, instant: float) -> bool:
        """Compares the machine's monotonic time, and a clock that may have been set."""
        clock_difference = abs(self._clock.now() - self._read_clock)
        return self._read_at > instant and clock_difference <= timedelta(seconds=CACHE_SECONDS)

    def _reuse(self, record: SigningKey) -> LoadedKey:
        loaded = self._loaded.get(record.id)
        if loaded is None:
            return load(self._master_key, record)
        return msgspec.structs.replace(loaded, record=record)


def load(master_key: MasterKey, record: SigningKey) -> LoadedKey:
    """Decrypts and parses a stored key. Raises WrongKey."""
    secret = master_key.open(record.sealed_private, _PURPOSE)
    if record.use == "enc":
        return LoadedKey(record=record, symmetric=secret)
    # Decryption has authenticated the key: validating it again would take 70 ms.
    private: Any = serialization.load_pem_private_key(
        secret, password=None, unsafe_skip_rsa_key_validation=True
    )
    public: Any = private.public_key()
    if record.public is None or not ALGORITHMS[record.algorithm].fits(public):
        raise TypeError(f"{record.id} is not an {record.algorithm} key")
    jwk = msgspec.json.decode(record.public)
    return LoadedKey(record=record, private=private, public=public, jwk=jwk)


def new_signing_key(
    master_key: MasterKey,
    random: Random,
    now: datetime,
    state: str,
    algorithm: SigningAlgorithm = "RS256",
) -> SigningKey:
    """Returns the record of a new key for the algorithm, which the caller stores.

    `state` is `next` or `active`. An RSA key has 2048 bits, and takes up to a second to make.
    """
    private = ALGORITHMS[algorithm].generate()
    pem = private.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    kid = random.id()
    public = JWK.from_pyca(private.public_key()).export_public(as_dict=True)
    jwk = {"use": "sig", "alg": algorithm, "kid": kid}
    jwk |= {name: public[name] for name in _PUBLIC_MEMBERS if name in public}
    return _record(kid, "sig", algorithm, state, master_key.seal(pem, _PURPOSE), now, jwk)


def new_sealing_key(
    master_key: MasterKey, random: Random, now: datetime, state: str = "active"
) -> SigningKey:
    """Returns the record of a new AES-256-GCM key for opaque access tokens, which the caller
    stores."""
    sealed = master_key.seal(random.token_bytes(32), _PURPOSE)
    return _record(random.id(), "enc", SEALING, state, sealed, now, None)


def _record(
    kid: str, use: Any, algorithm: Any, state: Any, sealed: str, now: datetime, jwk: Any
) -> SigningKey:
    return SigningKey(
        id=kid,
        use=use,
        algorithm=algorithm,
        state=state,
        sealed_private=sealed,
        created_at=now,
        changed_at=now,
        public=msgspec.json.encode(jwk).decode() if jwk else None,
    )
