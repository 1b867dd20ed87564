"""The location of a package in object storage, and the credentials that may use it.

Credentials are the values themselves: a document that names a file, a program or another server to
fetch them from is refused. Of a service account's document only the e-mail address, the key and
its id are used.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Annotated, Any, Final, Protocol

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from msgspec import Struct

from idp.config.settings import Config
from idp.foundation import strict_json
from idp.foundation.errors import InvalidArgument
from idp.schema.field_rules import Base64, FieldRefused, Schema, Text
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
_HOST: Final = re.compile(r"[a-z0-9.-]{1,253}(:[0-9]{1,5})?|\[[0-9a-f:.]{2,45}\](:[0-9]{1,5})?")
_REGION: Final = re.compile(r"[a-z0-9-]{1,32}")
_ACCOUNT: Final = re.compile(r"[a-z0-9]{3,24}")
_PRINTABLE: Final = re.compile(r"[!-~]+")
_SAS: Final = re.compile(r"[A-Za-z0-9%&=+_./:~*!-]+")


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
    """The rule of a field that holds the name of a bucket, or of a container of Azure."""

    noun: str = "bucket"

    def read(self, value: object) -> str:
        name = Text(1).read(value)
        if not _BUCKET.fullmatch(name) or _IPV4.fullmatch(name):
            raise FieldRefused("object_storage.bucket", f"is not the name of a {self.noun}")
        return name

    def schema(self) -> Schema:
        return Text(1).schema() | {"examples": ["acme-exports"]}


class Matching(Struct, frozen=True):
    """The rule of a field that holds a text which matches a pattern, with an example of it."""

    pattern: re.Pattern[str]
    example: str
    message: str
    max: int = 200

    def read(self, value: object) -> str:
        text = Text(1, self.max).read(value)
        if not self.pattern.fullmatch(text):
            raise FieldRefused("object_storage.value", self.message)
        return text

    def schema(self) -> Schema:
        return Text(1, self.max).schema() | {"examples": [self.example]}


class Secret(Struct, frozen=True):
    """A secret, held in memory for one transfer; its text form does not show it."""

    value: str

    def __repr__(self) -> str:
        return "Secret()"


class SecretText(Struct, frozen=True):
    """The rule of a field that holds a secret."""

    rule: Matching | Base64
    example: str

    def read(self, value: object) -> Secret:
        self.rule.read(value)
        return Secret(str(value))

    def schema(self) -> Schema:
        return self.rule.schema() | {"examples": [self.example]}


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


_ENDPOINT: Final = Matching(_HOST, "s3.example.com", "must be a host, with a port at most", 260)


class Location(Protocol):
    """An object in the object storage of one vendor.

    `uri` names it in the audit log, without its credentials.
    """

    @property
    def bucket(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def uri(self) -> str: ...
    def server(self, config: Config) -> str:
        """Returns the scheme, host and port of the server that has it."""


class GcsLocation(Request, frozen=True, kw_only=True):
    """An object in a bucket of Google Cloud Storage."""

    bucket: Annotated[str, BucketName()]
    path: Annotated[str, ObjectPath()]
    serviceaccount_json: Annotated[ServiceAccount, AccountDocument()]

    @property
    def uri(self) -> str:
        return f"gs://{self.bucket}/{self.path}"

    def server(self, config: Config) -> str:
        return config.gcs_endpoint


class S3Location(Request, frozen=True, kw_only=True):
    """An object in a bucket of S3, or of a storage with the API of S3, at `endpoint`: a host, with
    a port at most. Without it, S3 of AWS in the `region`. `ssl`: false is plain HTTP.
    """

    bucket: Annotated[str, BucketName()]
    path: Annotated[str, ObjectPath()]
    access_key_id: Annotated[
        str, Matching(_PRINTABLE, "AKIAIOSFODNN7EXAMPLE", "must be printable ASCII", 128)
    ]
    secret_access_key: Annotated[
        Secret,
        SecretText(
            Matching(_PRINTABLE, "", "must be printable ASCII", 256),
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        ),
    ]
    region: Annotated[str, Matching(_REGION, "us-east-1", "is not the name of a region", 32)] = (
        "us-east-1"
    )
    endpoint: Annotated[str | None, _ENDPOINT] = None
    ssl: bool = True

    @property
    def uri(self) -> str:
        return f"s3://{self.bucket}/{self.path}"

    def server(self, config: Config) -> str:
        suffix = ".cn" if self.region.startswith("cn-") else ""
        host = self.endpoint or f"s3.{self.region}.amazonaws.com{suffix}"
        return f"{_scheme(self.ssl)}://{host}"


class AzureLocation(Request, frozen=True, kw_only=True):
    """An object (a blob) in a container of Azure Blob Storage, by an access key of the account or
    a shared access signature. `endpoint` is a host, with a port at most, of another Azure cloud
    (`ACCOUNT.blob.…`) or of an emulator; `ssl`: false is plain HTTP.
    """

    one_of = (("access_key", "sas_token"),)
    requires_one = True

    account: Annotated[str, Matching(_ACCOUNT, "acmeexports", "is not the name of an account", 24)]
    container: Annotated[str, BucketName("container")]
    path: Annotated[str, ObjectPath()]
    access_key: Annotated[Secret | None, SecretText(Base64(200), "c2VjcmV0")] = None
    sas_token: Annotated[
        Secret | None,
        SecretText(
            Matching(_SAS, "", "is not a shared access signature", 2000), "sv=2024-11-04&sig=…"
        ),
    ] = None
    endpoint: Annotated[str | None, _ENDPOINT] = None
    ssl: bool = True

    @property
    def bucket(self) -> str:
        return self.container

    @property
    def uri(self) -> str:
        return f"azure://{self.account}/{self.container}/{self.path}"

    def server(self, config: Config) -> str:
        host = self.endpoint or f"{self.account}.blob.core.windows.net"
        return f"{_scheme(self.ssl)}://{host}"


def _scheme(is_encrypted: bool) -> str:
    return "https" if is_encrypted else "http"


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
