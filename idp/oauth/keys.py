"""The instance's keys: which one signs, which are published, which still verify.

States: *next* is published and waits, so that caches know it before it signs; *active* signs or
seals; *retired* stays published until the last token it signed has expired, and verifies
`id_token_hint`s for 120 days; *removed* is trusted for nothing, at once. Rotation moves
next → active → retired and makes a new next, in one unit.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from jwcrypto.jwk import JWK

from idp import events
from idp.clock import Clock
from idp.ids import Random
from idp.records import SIGNING_KEYS, SigningKey
from idp.vault import Vault
from storage import Insert, Store, Update, Write

CACHE_SECONDS: Final = 5.0
PUBLISHED_CACHE_SECONDS: Final = 300  # how long anybody may keep the published key set
UNKNOWN_KEY_SECONDS: Final = 1.0
HINT_DAYS: Final = 120
_PURPOSE: Final = "signing-key"


class TooSoon(Exception):
    """The waiting key is so new that caches of the key set might not know it yet."""


class LoadedKey(msgspec.Struct, frozen=True):
    """A stored key, parsed once. `symmetric` is set for a sealing key, the others for RS256."""

    record: SigningKey
    private: rsa.RSAPrivateKey | None = None
    public: rsa.RSAPublicKey | None = None
    symmetric: bytes | None = None
    jwk: Mapping[str, Any] | None = None

    @property
    def kid(self) -> str:
        return self.record.id


class KeyRing:
    """This process's view of the keys, at most 5 s old; an unknown kid is looked up sooner."""

    def __init__(self, store: Store, vault: Vault, clock: Clock, token_seconds: int) -> None:
        self._store = store
        self._vault = vault
        self._clock = clock
        # A process may sign with a key for as long as it doesn't know that it has retired.
        self._published_for = timedelta(seconds=token_seconds + CACHE_SECONDS)
        self._loaded: dict[str, LoadedKey] = {}
        self._read_at = -CACHE_SECONDS
        self._reading = asyncio.Lock()

    async def signing(self) -> LoadedKey:
        """The key that signs now."""
        return await self._active("sig")

    async def sealing(self) -> LoadedKey:
        """The key that seals opaque access tokens now."""
        return await self._active("enc")

    async def find(self, kid: str) -> LoadedKey | None:
        """The key of that id in any state but removed."""
        await self._refresh(CACHE_SECONDS)
        if kid not in self._loaded:
            await self._refresh(UNKNOWN_KEY_SECONDS)
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
        return None if key and self._is_retired_for(key, self._published_for) else key

    async def published(self) -> list[Mapping[str, Any]]:
        """The public keys as JWKs (RFC 7517), the active one first."""
        await self._refresh(CACHE_SECONDS)
        keys = [key for key in self._loaded.values() if key.jwk]
        keys = [key for key in keys if not self._is_retired_for(key, self._published_for)]
        order = {"active": 0, "next": 1, "retired": 2}
        keys.sort(key=lambda key: (order[key.record.state], key.record.created_at))
        return [key.jwk for key in keys if key.jwk]

    def _is_retired_for(self, key: LoadedKey, age: timedelta) -> bool:
        return key.record.state == "retired" and key.record.changed_at + age < self._clock.now()

    async def _active(self, use: str) -> LoadedKey:
        await self._refresh(CACHE_SECONDS)
        for key in self._loaded.values():
            if key.record.use == use and key.record.state == "active":
                return key
        raise LookupError(f"no active {use} key: the set-up has not run on this store")

    async def _refresh(self, max_age_seconds: float) -> None:
        if time.monotonic() - self._read_at < max_age_seconds:
            return
        async with self._reading:
            if time.monotonic() - self._read_at < max_age_seconds:
                return
            records = [record async for record in self._store.scan(SIGNING_KEYS)]
            self._loaded = {
                record.id: self._reuse(record) for record in records if record.state != "removed"
            }
            self._read_at = time.monotonic()

    def _reuse(self, record: SigningKey) -> LoadedKey:
        known = self._loaded.get(record.id)
        if known is None:
            return load(self._vault, record)
        return msgspec.structs.replace(known, record=record)


def load(vault: Vault, record: SigningKey) -> LoadedKey:
    """Open and parse a stored key. Raises vault.WrongKey."""
    secret = vault.open(record.sealed_private, _PURPOSE)
    if record.use == "enc":
        return LoadedKey(record=record, symmetric=secret)
    # The vault has authenticated the key: proving it to be one again costs 70 ms.
    private = serialization.load_pem_private_key(
        secret, password=None, unsafe_skip_rsa_key_validation=True
    )
    if not isinstance(private, rsa.RSAPrivateKey) or record.public is None:
        raise TypeError(f"{record.id} is not an {record.algorithm} key")
    jwk = msgspec.json.decode(record.public)
    return LoadedKey(record=record, private=private, public=private.public_key(), jwk=jwk)


def new_signing_key(vault: Vault, random: Random, now: datetime, state: str) -> SigningKey:
    """An RS256 key of 2048 bits, not yet stored."""
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = private.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    kid = random.id()
    public = JWK.from_pyca(private.public_key()).export_public(as_dict=True)
    jwk = {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": kid}
    jwk |= {"n": public["n"], "e": public["e"]}
    return _record(kid, "sig", "RS256", state, vault.seal(pem, _PURPOSE), now, jwk)


def new_sealing_key(vault: Vault, random: Random, now: datetime) -> SigningKey:
    """An AES-256-GCM key for opaque access tokens, not yet stored."""
    sealed = vault.seal(random.token_bytes(32), _PURPOSE)
    return _record(random.id(), "enc", "A256GCM", "active", sealed, now, None)


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


async def rotate(
    store: Store, vault: Vault, random: Random, clock: Clock, actor: str
) -> SigningKey:
    """Let the waiting key sign from now on, and make the one after it. Returns the latter.

    Raises TooSoon, LookupError before set-up, Stale when another process rotated at the same
    moment.
    """
    now = clock.now()
    keys = {r.state: r async for r in store.scan(SIGNING_KEYS, {"use": "sig"}) if r.use == "sig"}
    if "active" not in keys or "next" not in keys:
        raise LookupError("the set-up has not run on this store")
    if now < keys["next"].created_at + timedelta(seconds=PUBLISHED_CACHE_SECONDS):
        raise TooSoon(f"a key signs {PUBLISHED_CACHE_SECONDS} s after it was published")
    fresh = await asyncio.to_thread(new_signing_key, vault, random, now, "next")
    writes: list[Write] = [Insert(SIGNING_KEYS, fresh)]
    writes += _moved(random, keys["active"], "retired", now, actor)
    writes += _moved(random, keys["next"], "active", now, actor)
    writes.append(events.created(random, SIGNING_KEYS, fresh, "key.made", actor, now))
    await store.commit(*writes)
    return fresh


def removal(random: Random, key: SigningKey, now: datetime, actor: str) -> list[Write]:
    """The writes that end all trust in a key, for one that may be known to others."""
    return _moved(random, key, "removed", now, actor)


def _moved(random: Random, key: SigningKey, state: str, now: datetime, actor: str) -> list[Write]:
    change = Update(
        SIGNING_KEYS,
        key.id,
        set={"state": state, "changed_at": now},
        increment={"sequence": 1},
        expect={"state": key.state, "sequence": key.sequence},
    )
    event = events.changed(random, SIGNING_KEYS, key, f"key.{state}", actor, now)
    return [change, event]
