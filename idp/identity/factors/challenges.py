"""WebAuthn challenges: random values that a device signs to show that its answer is fresh.

A challenge consists of the time, random bytes and a keyed digest, so challenges that are never
answered take no storage. It is valid for one purpose in one flow or session, for a limited time,
and once: the record that it was used is written in the unit of what it authorizes.
"""

from __future__ import annotations

import hashlib
import hmac
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, TypeAlias

from idp.identity.factors.webauthn import WebAuthnRefused
from idp.records import USED_VALUES, UsedValue
from idp.service import Service
from storage import Insert

Purpose: TypeAlias = Literal["create", "get"]

_TIME_BYTES: Final = 8
_RANDOM_BYTES: Final = 16
_MAC_BYTES: Final = 16


def new(service: Service, purpose: Purpose, bound_to: str) -> bytes:
    """Returns a challenge for the registration (`create`) or the use (`get`) of a passkey. It is
    valid only for `bound_to`, a text that identifies the flow or session and its browser."""
    seconds = int(service.clock.now().timestamp())
    head = seconds.to_bytes(_TIME_BYTES) + service.random.token_bytes(_RANDOM_BYTES)
    return head + _mac(service, purpose, bound_to, head)


def use_write(service: Service, purpose: Purpose, bound_to: str, challenge: bytes) -> Insert:
    """Returns the write that records a challenge as used, for the unit of what the challenge
    authorizes; the unit fails with Conflict if the challenge was used before.

    Raises WebAuthnRefused if the challenge was not issued by this installation for this purpose
    and `bound_to` (as in `new`), or has expired.
    """
    head, mac = challenge[:-_MAC_BYTES], challenge[-_MAC_BYTES:]
    if len(head) != _TIME_BYTES + _RANDOM_BYTES:
        raise WebAuthnRefused("the challenge was not issued by this installation")
    if not hmac.compare_digest(mac, _mac(service, purpose, bound_to, head)):
        raise WebAuthnRefused("the challenge was issued for another purpose")
    made_at = datetime.fromtimestamp(int.from_bytes(head[:_TIME_BYTES]), UTC)
    expires_at = made_at + timedelta(seconds=service.config.sign_in_seconds)
    if service.clock.now() >= expires_at:
        raise WebAuthnRefused("the challenge is too old")
    used_id = hashlib.sha256(b"passkey challenge" + challenge).hexdigest()
    return Insert(USED_VALUES, UsedValue(id=used_id, expires_at=expires_at))


def _mac(service: Service, purpose: Purpose, bound_to: str, head: bytes) -> bytes:
    data = f"{purpose}\n{bound_to}\n".encode() + head
    return service.master_key.mac("passkey-challenge", data)[:_MAC_BYTES]
