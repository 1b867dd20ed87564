"""WebAuthn (W3C, Level 3): validates the answers of browsers and devices.

The functions depend on their arguments alone. The library fido2 parses CBOR and COSE keys and
verifies signatures, but does not limit its input; sizes and forms are checked here first.
"""

from __future__ import annotations

import hashlib
import ipaddress
import struct
from collections.abc import Callable
from typing import Any, Final, Literal, TypeVar
from urllib.parse import urlsplit

import msgspec
from cryptography.exceptions import InvalidSignature
from fido2 import cbor
from fido2.cose import CoseKey
from fido2.webauthn import AttestationObject, AuthenticatorData
from msgspec import Struct

from idp.config.settings import Config
from idp.foundation import base64url, strict_json
from idp.foundation.errors import IdpError

ALGORITHMS: Final = {-7: 2, -8: 1, -257: 3}  # ES256, EdDSA, RS256, and the type of their keys
MAX_ID_BYTES: Final = 1023  # of a credential (WebAuthn, 4)
_MAX_BYTES: Final = {
    "clientDataJSON": 4096,
    "attestationObject": 16 * 1024,
    "authenticatorData": 4096,
    "signature": 1024,
    "userHandle": 64,
    "id": MAX_ID_BYTES,
}
_MAX_RSA_BYTES: Final = 512
_MIN_RSA_BYTES: Final = 256
_MAX_EXPONENT_BYTES: Final = 4
_MAX_CHARACTERS: Final = 40_000
# What fido2 raises for malformed input.
_MALFORMED: Final = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
    struct.error,
)

_TRANSPORTS: Final = frozenset({"usb", "nfc", "ble", "smart-card", "hybrid", "internal"})

T = TypeVar("T")


class WebAuthnRefused(Exception):
    """The answer of a device is not valid. The reason is for the log alone."""


class RelyingParty(Struct, frozen=True):
    """The relying party of all passkeys: a host name, and the one origin that may ask for them."""

    id: str
    origin: str


def relying_party(config: Config) -> RelyingParty | None:
    """Returns the relying party of the installation; None where browsers support no passkeys: at
    an IP address, and by plain http on any host but localhost."""
    parts = urlsplit(config.issuer)
    host = parts.hostname or ""
    is_local = host == "localhost" or host.endswith(".localhost")
    if _is_address(host) or not (config.is_secure or is_local):
        return None
    # Browsers leave out the default port of the scheme in an origin.
    default_port = {"https": 443, "http": 80}[parts.scheme]
    port = "" if parts.port in (None, default_port) else f":{parts.port}"
    return RelyingParty(id=host, origin=f"{parts.scheme}://{host}{port}")


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


class _Attestation(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    client_data: str = msgspec.field(name="clientDataJSON")
    attestation_object: str
    transports: list[str] = []


class _Assertion(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    client_data: str = msgspec.field(name="clientDataJSON")
    authenticator_data: str
    signature: str
    user_handle: str = ""


class _Created(Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    type: Literal["public-key"]
    response: _Attestation


class _Asserted(Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    type: Literal["public-key"]
    response: _Assertion


class ClientData(Struct, frozen=True):
    """The challenge in the client data of a browser, and the digest of that data, which the device
    signs."""

    challenge: bytes
    digest: bytes


class Credential(Struct, frozen=True):
    """The public key that a device created for a passkey, with the device's statements about
    it."""

    id: bytes
    public_key: bytes
    aaguid: str
    transports: list[str]
    sign_count: int
    is_backup_eligible: bool
    is_backed_up: bool
    challenge: bytes


class WebAuthnAssertion(Struct, frozen=True):
    """A device's signed answer to a challenge; `check_signature` verifies the signature."""

    id: bytes
    signed_data: bytes
    signature: bytes
    user_handle: bytes | None
    sign_count: int
    is_backup_eligible: bool
    is_backed_up: bool
    challenge: bytes


def read_credential(party: RelyingParty, text: str) -> Credential:
    """Returns the new key in a browser's answer (`text`, JSON; WebAuthn, 7.1). The caller checks
    the challenge.

    Raises WebAuthnRefused.
    """
    created = _converted(text, _Created)
    client = _client_data(party, created.response.client_data, "webauthn.create")
    attestation = _decoded("attestationObject", created.response.attestation_object)
    data = _parsed(lambda: AttestationObject(attestation)).auth_data
    _check(party, data)
    new_key = data.credential_data
    if new_key is None or not 0 < len(new_key.credential_id) <= MAX_ID_BYTES:
        raise WebAuthnRefused("no key was made")
    if new_key.credential_id != _decoded("id", created.id):
        raise WebAuthnRefused("the key has another id than the answer")
    if not _is_usable(new_key.public_key):
        raise WebAuthnRefused("the key has no requested algorithm, or is incomplete")
    return Credential(
        id=bytes(new_key.credential_id),
        public_key=cbor.encode(new_key.public_key),
        aaguid=str(new_key.aaguid),
        transports=sorted(_TRANSPORTS.intersection(created.response.transports)),
        sign_count=data.counter,
        is_backup_eligible=data.is_backup_eligible(),
        is_backed_up=data.is_backed_up(),
        challenge=client.challenge,
    )


def read_assertion(party: RelyingParty, text: str) -> WebAuthnAssertion:
    """Returns the signed answer of a device, from a browser's JSON `text` (WebAuthn, 7.2). The
    caller checks challenge, owner and signature.

    Raises WebAuthnRefused.
    """
    asserted = _converted(text, _Asserted)
    client = _client_data(party, asserted.response.client_data, "webauthn.get")
    authenticator_data = _decoded("authenticatorData", asserted.response.authenticator_data)
    data = _parsed(lambda: AuthenticatorData(authenticator_data))
    _check(party, data)
    handle = asserted.response.user_handle
    return WebAuthnAssertion(
        id=_decoded("id", asserted.id),
        signed_data=authenticator_data + client.digest,
        signature=_decoded("signature", asserted.response.signature),
        user_handle=_decoded("userHandle", handle) if handle else None,
        sign_count=data.counter,
        is_backup_eligible=data.is_backup_eligible(),
        is_backed_up=data.is_backed_up(),
        challenge=client.challenge,
    )


def check_signature(assertion: WebAuthnAssertion, public_key: bytes) -> None:
    """Raises WebAuthnRefused unless the signature verifies with this public key."""
    key: Any = cbor.decode(public_key)
    try:
        CoseKey.parse(key).verify(assertion.signed_data, assertion.signature)
    except (InvalidSignature, *_MALFORMED):
        raise WebAuthnRefused("the signature does not verify with the key") from None


def _converted(text: str, kind: type[T]) -> T:
    """The answer, which may have no members but those of the struct."""
    if len(text) > _MAX_CHARACTERS:
        raise WebAuthnRefused("the answer is too long")
    try:
        return msgspec.convert(strict_json.decode(text.encode()), kind)
    except IdpError as error:
        raise WebAuthnRefused(f"the answer is not JSON: {error.message}") from None
    except msgspec.ValidationError as error:
        raise WebAuthnRefused(f"the answer is not of the right form: {error}") from None


def _decoded(name: str, text: str) -> bytes:
    try:
        data = base64url.decode(text)
    except ValueError:
        raise WebAuthnRefused(f"{name} is not base64url") from None
    if not 0 < len(data) <= _MAX_BYTES[name]:
        raise WebAuthnRefused(f"{name} is empty or too long")
    return data


def _client_data(party: RelyingParty, text: str, expected_type: str) -> ClientData:
    data = _decoded("clientDataJSON", text)
    try:
        members = strict_json.decode(data)
    except IdpError as error:
        raise WebAuthnRefused(f"clientDataJSON is not JSON: {error.message}") from None
    if not isinstance(members, dict) or members.get("type") != expected_type:
        raise WebAuthnRefused(f"the device did not answer to {expected_type}")
    if members.get("origin") != party.origin:
        raise WebAuthnRefused("the answer was given to another origin")
    if members.get("crossOrigin", False) is not False or "topOrigin" in members:
        raise WebAuthnRefused("the answer was given within another site's page")
    try:
        challenge = base64url.decode(members.get("challenge") or "")
    except (ValueError, TypeError):
        raise WebAuthnRefused("the challenge is not base64url") from None
    return ClientData(challenge=challenge, digest=hashlib.sha256(data).digest())


def _check(party: RelyingParty, data: AuthenticatorData) -> None:
    if data.rp_id_hash != hashlib.sha256(party.id.encode()).digest():
        raise WebAuthnRefused("the key is for another host")
    if not data.is_user_present() or not data.is_user_verified():
        raise WebAuthnRefused("the device did not verify its user")
    if data.is_backed_up() and not data.is_backup_eligible():
        raise WebAuthnRefused("the device contradicts itself: a key can't be copied, and is")


def _is_usable(key: CoseKey) -> bool:
    """Whether this is a complete public key of a requested algorithm."""
    algorithm = key.get(3)
    if not isinstance(algorithm, int) or ALGORITHMS.get(algorithm) != key.get(1):
        return False
    if algorithm == -257 and not _is_accepted_rsa(key.get(-1), key.get(-2)):
        return False
    try:
        # A complete key gets as far as comparing the signature; an incomplete one fails earlier.
        key.verify(b"", b"")
    except InvalidSignature:
        return True
    except _MALFORMED:
        return False
    return False


def _is_accepted_rsa(modulus: object, exponent: object) -> bool:
    """Whether verification is cheap: with a long exponent it takes seconds."""
    if not isinstance(modulus, bytes) or not isinstance(exponent, bytes):
        return False
    is_sized = _MIN_RSA_BYTES <= len(modulus) <= _MAX_RSA_BYTES
    return is_sized and len(exponent) <= _MAX_EXPONENT_BYTES


def _parsed(read: Callable[[], T]) -> T:
    try:
        return read()
    except _MALFORMED as error:
        raise WebAuthnRefused(
            f"the data of the device can't be read: {type(error).__name__}"
        ) from None
