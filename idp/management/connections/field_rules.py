"""Rules for the fields of connections."""

from __future__ import annotations

import re
from typing import Final, get_args
from urllib.parse import urlsplit

from msgspec import Struct

from idp.records.connections import ConnectionKind
from idp.schema.field_rules import FieldRefused, Schema, Text, wrong_type

MAX_ADDRESS: Final = 500
MAX_CLAIM: Final = 200
MAX_CLAIMS: Final = 5

_UNUSABLE: Final = re.compile(r"[^\x21-\x7e]|[\\<>\"{}|^`]")
_SCOPE: Final = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")
_GUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ID: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
# Parts of paths beside the ids of connections.
_RESERVED_WORDS: Final = frozenset({"callback", "templates", *get_args(ConnectionKind)})
_WEB: Final = ("https", "http")


class ServerAddress(Struct, frozen=True):
    """The rule of a field that holds the address of another server, or an empty text unless `min`
    is 1.

    It is an absolute URL of one of `schemes` without user information and fragment; with
    `is_issuer`, also without a query. Whether it may be called depends on the settings of the
    service (`addresses.check`).
    """

    min: int = 0
    is_issuer: bool = False
    schemes: tuple[str, ...] = _WEB

    def read(self, value: object) -> str:
        text = Text(self.min, MAX_ADDRESS).read(value)
        if not text:
            return text
        try:
            parts = urlsplit(text)
            is_usable = bool(parts.hostname) and parts.scheme in self.schemes
            _ = parts.port  # raises ValueError if it is not a number in range
        except ValueError:
            is_usable = False
        if not is_usable or _UNUSABLE.search(text) or "@" in parts.netloc or "#" in text:
            raise FieldRefused(
                "connection.address", f"is not an address that begins with {self.schemes[0]}://"
            )
        if self.is_issuer and "?" in text:
            raise FieldRefused("connection.address", "must not have a query")
        return text

    def schema(self) -> Schema:
        example = f"{self.schemes[0]}://login.corp.example"
        return Text(self.min, MAX_ADDRESS).schema() | {"examples": [example]}


class ConnectionId(Struct, frozen=True):
    """The rule of a field that holds the id of a new connection, which is a part of addresses, or
    an empty text."""

    def read(self, value: object) -> str:
        text = Text().read(value)
        if text and (not _ID.fullmatch(text) or text in _RESERVED_WORDS):
            raise FieldRefused(
                "connection.id",
                "must consist of letters, digits, '-', '.' and '_', and must not be a reserved"
                " word",
            )
        return text

    def schema(self) -> Schema:
        return Text().schema() | {"examples": ["acme-entra"]}


class ScopeName(Struct, frozen=True):
    """The rule of a field that holds one scope (RFC 6749 3.3)."""

    def read(self, value: object) -> str:
        scope = Text(1).read(value)
        if not _SCOPE.fullmatch(scope):
            raise FieldRefused("field.characters", "is not a scope: it must not contain spaces")
        return scope

    def schema(self) -> Schema:
        return Text(1).schema() | {"examples": ["profile"]}


class TenantId(Struct, frozen=True):
    """The rule of a field that holds the id of a tenant of Microsoft Entra ID: a UUID."""

    def read(self, value: object) -> str:
        text = Text(1).read(value).lower()
        if not _GUID.fullmatch(text):
            raise FieldRefused(
                "connection.tenant", "is not an id such as 72f988bf-86f1-41af-91ab-2d7cd011db47"
            )
        return text

    def schema(self) -> Schema:
        return Text(1).schema() | {"examples": ["72f988bf-86f1-41af-91ab-2d7cd011db47"]}


_CLAIM: Final = Text(1, MAX_CLAIM)


def _element(names: list[object], index: int) -> str:
    try:
        return _CLAIM.read(names[index])
    except FieldRefused as refused:
        refused.index = index
        raise


class ClaimSources(Struct, frozen=True):
    """The rule of a field that names the source of a value: the name of a claim, a JSON pointer
    (RFC 6901), or a list of up to five of these. It is read as a list."""

    def read(self, value: object) -> tuple[str, ...]:
        if isinstance(value, str):
            return (_CLAIM.read(value),)
        if not isinstance(value, list):
            raise wrong_type("a name or a list of names")
        if len(value) > MAX_CLAIMS:
            raise FieldRefused(
                "field.too_many", f"has more than {MAX_CLAIMS} elements", MAX_CLAIMS
            )
        return tuple(_element(value, index) for index in range(len(value)))

    def schema(self) -> Schema:
        name = _CLAIM.schema()
        return {
            "anyOf": [name, {"type": "array", "maxItems": MAX_CLAIMS, "items": name}],
            "examples": [["preferred_username", "email"]],
        }
