"""The chain over a stream of events, by which a change of sealed events is found.

The value of an event is a MAC over the value before it, the event's position, the event, and a
digest of its payload. The key of the MAC is in the store, encrypted under the master key: a
program that can only write the database can't compute another chain. The digest of the payload is
salted, so that an erased payload can't be guessed from its digest.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

import msgspec

from idp.foundation import base64url
from idp.foundation.randomness import Random
from idp.records import CHAIN_KEY_ID, AuditKey, Event, sealed_fields
from idp.service import Service

_KEY_BYTES: Final = 32
_PURPOSE: Final = sealed_fields.AUDIT_CHAIN_KEY.purpose
_SALT_BYTES: Final = 16
# A chain value begins with the version of its format. A later version may cover other fields of an
# event; values that begin with this one are still computed as here.
_VERSION: Final = "1."


def new_key(service: Service) -> AuditKey:
    """Returns a new key for the chains, encrypted under the master key."""
    return AuditKey(
        id=CHAIN_KEY_ID,
        sealed_key=service.master_key.seal(service.random.token_bytes(_KEY_BYTES), _PURPOSE),
        created_at=service.clock.now(),
    )


def open_key(service: Service, record: AuditKey) -> bytes:
    """Returns the key of the chains. Raises WrongKey."""
    return service.master_key.open(record.sealed_key, _PURPOSE)


def new_salt(random: Random) -> str:
    """Returns a random salt for the digest of a payload."""
    return base64url.encode(random.token_bytes(_SALT_BYTES))


def value(key: bytes, previous_value: str, event: Event) -> str:
    """Returns the value of the chain at an event with stream, position and salt.
    `previous_value` is the value at the previous position, empty at the first one."""
    parts = (_VERSION, previous_value, str(event.position), _digest(event), payload_digest(event))
    return _VERSION + _mac(key, parts)


def floor_mac(key: bytes, stream: str, position: int, chain: str) -> str:
    """Returns the MAC of the last removed position of a stream and of the chain's value there."""
    return _mac(key, ("floor", stream, str(position), chain))


def erasure_mac(key: bytes, event: Event, digest: str) -> str:
    """Returns the MAC of the digest that remains of an erased payload. Without it, a program that
    changes the database could erase payloads, too."""
    return _mac(key, ("erased", event.stream or "", str(event.position), digest))


def is_erased_by_service(key: bytes, event: Event) -> bool:
    """Whether the service erased the event's payload."""
    return is_erased(event) and event.erasure_mac == erasure_mac(key, event, payload_digest(event))


def payload_digest(event: Event) -> str:
    """Returns the salted digest of the event's payload, also after the payload was erased.

    The stored digest is used only if the payload was erased: otherwise a changed payload with the
    old digest would not be noticed.
    """
    if event.payload_digest is not None and is_erased(event):
        return event.payload_digest
    payload = msgspec.json.encode([[name, value] for name, value in event.payload])
    return _sha256((event.salt or "").encode() + b"\n" + payload)


def is_erased(event: Event) -> bool:
    """Whether the event's payload was erased, so that only its digest is left."""
    return event.payload_digest is not None and not event.payload and event.salt is None


def _digest(event: Event) -> str:
    """The digest of the event's fields of version 1, as JSON with sorted names."""
    fields = {
        "actor": event.actor,
        "at": event.at.isoformat(timespec="milliseconds"),
        "collection": event.collection,
        "id": event.id,
        "org_id": event.org_id,
        "record_id": event.record_id,
        "request_id": event.request_id,
        "sequence": event.sequence,
        "stream": event.stream,
        "type": event.type,
    }
    return _sha256(msgspec.json.encode(fields, order="sorted"))


def _sha256(data: bytes) -> str:
    return base64url.encode(hashlib.sha256(data).digest())


def _mac(key: bytes, parts: tuple[str, ...]) -> str:
    """The HMAC-SHA256 of texts that contain no line break, in lower-case hexadecimal digits, which
    the log does not redact as a secret."""
    return hmac.digest(key, "\n".join(parts).encode(), hashlib.sha256).hex()
