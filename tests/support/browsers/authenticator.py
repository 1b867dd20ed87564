"""A software authenticator: its responses are like a browser's, correct or deliberately wrong.

It encodes CBOR and COSE itself, so that the service does not read the output of its own library.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from dataclasses import dataclass, field

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from idp.foundation import base64url

UP, UV, BE, BS, AT, ED = 0x01, 0x04, 0x08, 0x10, 0x40, 0x80


def encode(value) -> bytes:
    """Encodes a value that devices send in CBOR (RFC 8949)."""
    match value:
        case bool():
            return b"\xf5" if value else b"\xf4"
        case int() if value < 0:
            return _head(1, -1 - value)
        case int():
            return _head(0, value)
        case bytes():
            return _head(2, len(value)) + value
        case str():
            return _head(3, len(value.encode())) + value.encode()
        case list():
            return _head(4, len(value)) + b"".join(map(encode, value))
        case dict():
            pairs = b"".join(encode(name) + encode(each) for name, each in value.items())
            return _head(5, len(value)) + pairs
    raise TypeError(value)


def _head(major: int, number: int) -> bytes:
    for code, form, most in ((24, ">B", 0xFF), (25, ">H", 0xFFFF), (26, ">I", 0xFFFFFFFF)):
        if number < 24:
            return bytes([major << 5 | number])
        if number <= most:
            return bytes([major << 5 | code]) + struct.pack(form, number)
    return bytes([major << 5 | 27]) + struct.pack(">Q", number)


class ES256Key:
    """The kind of key that most devices create."""

    def __init__(self) -> None:
        self.private = ec.generate_private_key(ec.SECP256R1())

    @property
    def cose(self) -> dict:
        point = self.private.public_key().public_numbers()
        x, y = point.x.to_bytes(32), point.y.to_bytes(32)
        return {1: 2, 3: -7, -1: 1, -2: x, -3: y}

    def sign(self, message: bytes) -> bytes:
        return self.private.sign(message, ec.ECDSA(hashes.SHA256()))


class EdDSAKey:
    def __init__(self) -> None:
        self.private = ed25519.Ed25519PrivateKey.generate()

    @property
    def cose(self) -> dict:
        raw = self.private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        return {1: 1, 3: -8, -1: 6, -2: raw}

    def sign(self, message: bytes) -> bytes:
        return self.private.sign(message)


class RS256Key:
    def __init__(self, private) -> None:
        self.private = private

    @property
    def cose(self) -> dict:
        numbers = self.private.public_key().public_numbers()
        return {1: 3, 3: -257, -1: numbers.n.to_bytes(256), -2: numbers.e.to_bytes(3)}

    def sign(self, message: bytes) -> bytes:
        return self.private.sign(message, padding.PKCS1v15(), hashes.SHA256())


@dataclass
class Device:
    """Holds one key for `origin`. `options` of its methods are those of the page's button; the
    further arguments replace correct values."""

    origin: str
    key: object = field(default_factory=ES256Key)
    id: bytes = field(default_factory=lambda: os.urandom(16))
    count: int = 0
    flags: int = UP | UV
    user_handle: bytes = b""

    def create(self, options: dict, **wrong) -> str:
        """The response to a page's request to create a passkey."""
        self.user_handle = base64url.decode(options["user"]["id"])
        data = self._data(options["rp"]["id"], AT, **wrong) + self._attested(wrong)
        statement = {"fmt": "none", "attStmt": {}, "authData": data}
        response = {
            "clientDataJSON": self._client_data("webauthn.create", options, wrong),
            "attestationObject": base64url.encode(wrong.get("attestation", encode(statement))),
            "transports": ["internal"],
        }
        return self._answer(response, wrong)

    def get(self, options: dict, **wrong) -> str:
        """The response to a page's request to sign."""
        data = wrong.get("data", self._data(options["rpId"], 0, **wrong))
        client_data = self._client_data("webauthn.get", options, wrong)
        digest = hashlib.sha256(base64url.decode(client_data)).digest()
        response = {
            "clientDataJSON": client_data,
            "authenticatorData": base64url.encode(data),
            "signature": base64url.encode(wrong.get("signature", self.key.sign(data + digest))),
        }
        handle = wrong.get("user_handle", self.user_handle)
        if handle is not None:
            response["userHandle"] = base64url.encode(handle)
        return self._answer(response, wrong)

    def _data(self, rp_id: str, more: int, *, host="", flags=None, count=None, **_) -> bytes:
        if count is None:
            self.count += self.count > 0
            count = self.count
        flags = (self.flags if flags is None else flags) | more
        host = (host or rp_id).encode()
        return hashlib.sha256(host).digest() + struct.pack(">BI", flags, count)

    def _attested(self, wrong: dict) -> bytes:
        id = wrong.get("id", self.id)
        cose = wrong.get("cose", self.key.cose)
        key = cose if isinstance(cose, bytes) else encode(cose)
        return b"\0" * 16 + struct.pack(">H", len(id)) + id + key

    def _client_data(self, type: str, options: dict, wrong: dict) -> str:
        client_data = {
            "type": type,
            "challenge": options["challenge"],
            "origin": self.origin,
            "crossOrigin": False,
        } | wrong.get("client_data", {})
        encoded = wrong.get("client_octets", json.dumps(client_data).encode())
        return base64url.encode(encoded)

    def _answer(self, response: dict, wrong: dict) -> str:
        answer = {
            "id": base64url.encode(wrong.get("answer_id", self.id)),
            "type": "public-key",
            "response": response | wrong.get("response", {}),
        } | wrong.get("answer", {})
        return json.dumps(answer)
