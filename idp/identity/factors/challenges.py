"""Challenges: what a device signs to show that it answers now, here, and for this.

A challenge is chance with the time and a keyed digest, so nothing is stored of the many that
nobody answers. It counts for one purpose of one browser, for a while, and once: what comes of it
is committed with the note that it was used.
"""

from __future__ import annotations

import hashlib
import hmac
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, TypeAlias

from idp.identity.factors.webauthn import WebAuthnRefused
from idp.records import REPLAY, Replay
from idp.service import Service
from storage import Insert

Purpose: TypeAlias = Literal["create", "get"]

_TIME_BYTES: Final = 8
_CHANCE_BYTES: Final = 16
_MAC_BYTES: Final = 16


def new(service: Service, purpose: Purpose, bound_to: str) -> bytes:
    """A challenge for what `bound_to` names: a flow or a session, and its browser."""
    seconds = int(service.clock.now().timestamp())
    head = seconds.to_bytes(_TIME_BYTES) + service.random.token_bytes(_CHANCE_BYTES)
    return head + _mac(service, purpose, bound_to, head)


def spent(service: Service, purpose: Purpose, bound_to: str, challenge: bytes) -> Insert:
    """The write that uses a challenge up. Conflict: it was used before.

    Raises WebAuthnRefused: it was not made here for this, or too long ago.
    """
    head, mac = challenge[:-_MAC_BYTES], challenge[-_MAC_BYTES:]
    if len(head) != _TIME_BYTES + _CHANCE_BYTES:
        raise WebAuthnRefused("the challenge is not one of ours")
    if not hmac.compare_digest(mac, _mac(service, purpose, bound_to, head)):
        raise WebAuthnRefused("the challenge was made for something else")
    made_at = datetime.fromtimestamp(int.from_bytes(head[:_TIME_BYTES]), UTC)
    expires_at = made_at + timedelta(seconds=service.config.sign_in_seconds)
    if service.clock.now() >= expires_at:
        raise WebAuthnRefused("the challenge is too old")
    id = hashlib.sha256(b"passkey challenge" + challenge).hexdigest()
    return Insert(REPLAY, Replay(id=id, expires_at=expires_at))


def _mac(service: Service, purpose: Purpose, bound_to: str, head: bytes) -> bytes:
    octets = f"{purpose}\n{bound_to}\n".encode() + head
    return service.vault.mac("passkey-challenge", octets)[:_MAC_BYTES]
