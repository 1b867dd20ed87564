"""The instance's keys as each process knows them: which signs, which verify, which are published.

States: *next* is published and waits, so that caches know it before it signs; *active* signs or
seals; *retired* stays published until the last token it signed has expired, and verifies
`id_token_hint`s for 120 days; *removed* is trusted for nothing, at once. How a key comes from one
to the other is in `idp/oauth/key_rotation.py`, and so is `ensure`, which whoever registers an
application calls to have keys of its signing algorithm.
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
from idp.foundation.token_bucket import TokenBucket
from idp.keys.algorithms import ALGORITHMS, PrivateKey, PublicKey
from idp.keys.master_key import MasterKey
from idp.records import SIGNING_KEYS, SigningAlgorithm, SigningKey
from storage import Store

CACHE_SECONDS: Final = 5.0
PUBLISHED_CACHE_SECONDS: Final = 300  # how long anybody may keep the published key set
HINT_DAYS: Final = 120
SEALING: Final = "A256GCM"
_UNKNOWN_AT_ONCE: Final = 10  # unknown kids that are looked up without a wait; then one a second
_PURPOSE: Final = "signing-key"
_PUBLIC_MEMBERS: Final = ("kty", "crv", "x", "y", "n", "e")
_NEVER: Final = -math.inf


class LoadedKey(msgspec.Struct, frozen=True):
    """A stored key, parsed once. `symmetric` is set for a sealing key, the others for signing."""

    record: SigningKey
    private: PrivateKey | None = None
    public: PublicKey | None = None
    symmetric: bytes | None = None
    jwk: Mapping[str, Any] | None = None

    @property
    def kid(self) -> str:
        return self.record.id


class KeyRing:
    """This process's view of the keys, at most 5 s old; an unknown kid is looked up sooner."""

    def __init__(self, store: Store, vault: MasterKey, clock: Clock, token_seconds: int) -> None:
        self._store = store
        self._vault = vault
        self._clock = clock
        # A process may sign with a key for as long as it doesn't know that it has retired.
        self.published_for = timedelta(seconds=token_seconds + CACHE_SECONDS)
        self._loaded: dict[str, LoadedKey] = {}
        self._active: dict[str, LoadedKey] = {}
        self._read_at = _NEVER
        self._read_clock = clock.now()
        self._reading = asyncio.Lock()
        self._unknown_pace = TokenBucket(burst=_UNKNOWN_AT_ONCE, per_second=1)

    async def signing(self, algorithm: SigningAlgorithm = "RS256") -> LoadedKey:
        """The key that signs by this algorithm now. Raises LookupError: there never was one."""
        return await self._in_use(algorithm)

    async def sealing(self) -> LoadedKey:
        """The key that seals opaque access tokens now."""
        return await self._in_use(SEALING)

    async def find(self, kid: str) -> LoadedKey | None:
        """The key of that id in any state but removed."""
        await self._refresh(CACHE_SECONDS)
        if kid not in self._loaded and self._unknown_pace.allows(self._clock.now()):
            await self._refresh(0.0)
        return self._loaded.get(kid)

    async def for_hints(self, kid: str) -> LoadedKey | None:
        """The key that verifies an `id_token_hint`, however old the hint within 120 days."""
        key = await self.find(kid)
        if key and self._is_retired_for(key, timedelta(days=HINT_DAYS)):
            return None
        return key

    async def for_tokens(self, kid: str) -> LoadedKey | None:
        """The key that verifies or opens a token which has not expired."""
        key = await self.find(kid)
        return None if key and self._is_retired_for(key, self.published_for) else key

    async def published(self) -> list[Mapping[str, Any]]:
        """The public keys as JWKs (RFC 7517), the active ones first.

        As the store has them now: another process may sign with a key since a moment ago.
        """
        await self._refresh(0.0)
        keys = [key for key in self._loaded.values() if key.jwk]
        keys = [key for key in keys if not self._is_retired_for(key, self.published_for)]
        order = {"active": 0, "next": 1, "retired": 2}
        keys.sort(key=lambda key: (order[key.record.state], key.record.created_at))
        return [key.jwk for key in keys if key.jwk]

    def forget(self) -> None:
        """Read the store at the next use: this process has just changed the keys."""
        self._read_at = _NEVER

    def _is_retired_for(self, key: LoadedKey, age: timedelta) -> bool:
        return key.record.state == "retired" and key.record.changed_at + age < self._clock.now()

    async def _in_use(self, algorithm: str) -> LoadedKey:
        await self._refresh(CACHE_SECONDS)
        if algorithm not in self._active:  # made a moment ago, perhaps, by another process
            await self._refresh(0.0)
        if algorithm not in self._active:
            raise LookupError(f"no active {algorithm} key: none was made on this store")
        return self._active[algorithm]

    async def _refresh(self, max_age_seconds: float) -> None:
        """Have what a reading found that began at most so long ago, or after this call."""
        due_at = time.monotonic() - max_age_seconds
        if self._has_read_since(due_at):
            return
        async with self._reading:
            if self._has_read_since(due_at):
                return
            began_at, self._read_clock = time.monotonic(), self._clock.now()
            records = [record async for record in self._store.scan(SIGNING_KEYS)]
            kept = [self._reuse(record) for record in records if record.state != "removed"]
            self._loaded = {key.kid: key for key in kept}
            self._active = {
                key.record.algorithm: key for key in kept if key.record.state == "active"
            }
            self._read_at = began_at

    def _has_read_since(self, instant: float) -> bool:
        """By the machine's own time, and by a clock that may have been set."""
        passed = abs(self._clock.now() - self._read_clock)
        return self._read_at > instant and passed <= timedelta(seconds=CACHE_SECONDS)

    def _reuse(self, record: SigningKey) -> LoadedKey:
        known = self._loaded.get(record.id)
        if known is None:
            return load(self._vault, record)
        return msgspec.structs.replace(known, record=record)


def load(vault: MasterKey, record: SigningKey) -> LoadedKey:
    """Open and parse a stored key. Raises vault.WrongKey."""
    secret = vault.open(record.sealed_private, _PURPOSE)
    if record.use == "enc":
        return LoadedKey(record=record, symmetric=secret)
    # The vault has authenticated the key: proving it to be one again costs 70 ms.
    private: Any = serialization.load_pem_private_key(
        secret, password=None, unsafe_skip_rsa_key_validation=True
    )
    public: Any = private.public_key()
    if record.public is None or not ALGORITHMS[record.algorithm].fits(public):
        raise TypeError(f"{record.id} is not an {record.algorithm} key")
    jwk = msgspec.json.decode(record.public)
    return LoadedKey(record=record, private=private, public=public, jwk=jwk)


def new_signing_key(
    vault: MasterKey,
    random: Random,
    now: datetime,
    state: str,
    algorithm: SigningAlgorithm = "RS256",
) -> SigningKey:
    """A key of the algorithm, not yet stored. RSA has 2048 bits, and takes up to a second."""
    private = ALGORITHMS[algorithm].make()
    pem = private.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    kid = random.id()
    public = JWK.from_pyca(private.public_key()).export_public(as_dict=True)
    jwk = {"use": "sig", "alg": algorithm, "kid": kid}
    jwk |= {name: public[name] for name in _PUBLIC_MEMBERS if name in public}
    return _record(kid, "sig", algorithm, state, vault.seal(pem, _PURPOSE), now, jwk)


def new_sealing_key(
    vault: MasterKey, random: Random, now: datetime, state: str = "active"
) -> SigningKey:
    """An AES-256-GCM key for opaque access tokens, not yet stored."""
    sealed = vault.seal(random.token_bytes(32), _PURPOSE)
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
