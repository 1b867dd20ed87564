"""The location of a package in object storage, and the service account that may use it.

Of an account's JSON document only the e-mail address, the key and its id are used. The caller
cannot choose the addresses of Google's servers: a document with another address is refused.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Annotated, Any, Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from msgspec import Struct

from idp.foundation import strict_json
from idp.foundation.errors import InvalidArgument
from idp.schema.field_rules import FieldRefused, Schema, Text
from idp.schema.reading import Request

MAX_ACCOUNT: Final = 16 * 1024
MAX_PATH_BYTES: Final = 1024
KEY_BITS: Final = (2048, 8192)
_BUCKET: Final = re.compile(
    r"(?=.{3,222}\Z)[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?)*"
)
_IPV4: Final = re.compile(r"[0-9]+(\.[0-9]+){3}")
_MEMBERS: Final = {
    "type": re.compile(r"service_account"),
    "client_email": re.compile(r"[a-z0-9-]{1,63}@[a-z0-9.-]{1,200}\.gserviceaccount\.com"),
    "private_key_id": re.compile(r"[A-Za-z0-9]{1,100}"),
    "private_key": re.compile(r"-----BEGIN (RSA )?PRIVATE KEY-----\n[^-]*-----END [^-]*-----\n?"),
    "token_uri": re.compile(
        r"https://(oauth2\.googleapis\.com/token|accounts\.google\.com/o/oauth2/token)"
    ),
}
_UNIVERSE: Final = "universe_domain"


class ServiceAccount(Struct, frozen=True):
    """A service account of Google Cloud, held in memory for one transfer; its text form shows none
    of its values.
    """

    email: str
    key_id: str
    private_key: str

    def __repr__(self) -> str:
        return "ServiceAccount()"


class AccountDocument(Struct, frozen=True):
    """The rule of a field that holds the JSON document of a service account of Google Cloud, in
    base64.
    """

    def read(self, value: object) -> ServiceAccount:
        """Returns the account that the document describes.

        Raises FieldRefused, whose message contains nothing of the document.
        """
        document = _document(Text(1, 2 * MAX_ACCOUNT, is_free=True).read(value))
        for name, pattern in _MEMBERS.items():
            member = document.get(name)
            if not (isinstance(member, str) and pattern.fullmatch(member)):
                raise _unusable(f"has no {name} as a service account of Google Cloud has it")
        # An account of another Google Cloud universe (`universe_domain`) is unknown to these
        # servers.
        if document.get(_UNIVERSE, "googleapis.com") != "googleapis.com":
            raise _unusable(f"has another {_UNIVERSE} than googleapis.com")
        _check_key(document["private_key"])
        return ServiceAccount(
            document["client_email"], document["private_key_id"], document["private_key"]
        )

    def schema(self) -> Schema:
        return {"type": "string", "contentEncoding": "base64", "maxLength": 2 * MAX_ACCOUNT}


class BucketName(Struct, frozen=True):
    """The rule of a field that holds the name of a bucket of Google Cloud Storage."""

    def read(self, value: object) -> str:
        name = Text(1).read(value)
        if not _BUCKET.fullmatch(name) or _IPV4.fullmatch(name):
            raise FieldRefused("object_storage.bucket", "is not the name of a bucket")
        return name

    def schema(self) -> Schema:
        return Text(1).schema() | {"examples": ["acme-exports"]}


class ObjectPath(Struct, frozen=True):
    """The rule of a field that holds the name of an object: segments with slashes between them,
    none of which is empty, `.` or `..`.
    """

    def read(self, value: object) -> str:
        path = Text(1, MAX_PATH_BYTES).read(value)
        if len(path.encode()) > MAX_PATH_BYTES:
            raise FieldRefused("field.too_long", f"has more than {MAX_PATH_BYTES} bytes")
        if {"", ".", ".."} & set(path.split("/")) or "\\" in path:
            raise FieldRefused("object_storage.path", "must be names separated by slashes")
        return path

    def schema(self) -> Schema:
        return Text(1, MAX_PATH_BYTES).schema() | {"examples": ["2026/export.json"]}


class ObjectLocation(Request, frozen=True, kw_only=True):
    """An object in a bucket of Google Cloud Storage."""

    bucket: Annotated[str, BucketName()]
    path: Annotated[str, ObjectPath()]
    serviceaccount_json: Annotated[ServiceAccount, AccountDocument()]


def _document(text: str) -> dict[str, Any]:
    try:
        document = strict_json.decode(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        raise FieldRefused("field.base64", "is not base64") from None
    except InvalidArgument:
        raise _unusable("is not JSON") from None
    if not isinstance(document, dict):
        raise _unusable("is not an object")
    return document


def _check_key(pem: str) -> None:
    try:
        key = load_pem_private_key(pem.encode(), None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise _unusable("has a private_key that can't be read") from None
    min_bits, max_bits = KEY_BITS
    if not isinstance(key, RSAPrivateKey) or not min_bits <= key.key_size <= max_bits:
        raise _unusable(f"has a private_key that is not RSA of {min_bits} to {max_bits} bits")


def _unusable(message: str) -> FieldRefused:
    return FieldRefused("object_storage.account", message)
