"""Public keys of applications and service users that verify assertions (RFC 7523).

Either the caller sends the public key, or the service generates a pair: then the private key is in
the answer, as a key file, and is not stored. A removed key no longer verifies assertions.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final

import msgspec
from cryptography.hazmat.primitives import serialization
from msgspec import Struct

from idp import changes
from idp.changes import Change
from idp.credentials import expirations, last_uses
from idp.foundation import opaque_tokens
from idp.foundation.errors import FieldProblem, NotFound
from idp.keys import jws
from idp.keys.algorithms import ALGORITHMS
from idp.keys.jws import UnusableKey
from idp.management import search as management_search
from idp.management.call import Call
from idp.management.search import Search, SearchDetails
from idp.records import RegisteredKey
from idp.schema import answers
from idp.schema.answers import Answer, Changed, Details
from idp.schema.field_rules import Base64, FieldRefused, Instant, OneOf, Schema
from idp.schema.reading import Request
from idp.search import paging
from idp.search.paging import ListDetails
from idp.search.query_planner import Filter
from idp.service import Service
from storage import Collection, Write

_MAX_BASE64: Final = jws.MAX_KEY_CHARACTERS * 4 // 3
TYPE: Final = "KEY_TYPE_JSON"
_NO_PASSWORD: Final = serialization.NoEncryption()


class PublicKey(Struct, frozen=True):
    """The rule (`field_rules.Rule`) of a field that holds a public key as PEM, in base64. It is
    read as PEM, without other text around the key."""

    def read(self, value: object) -> str:
        data = Base64(_MAX_BASE64).read(value)
        try:
            # latin-1 decodes any bytes; those that are no PEM are refused when they are parsed.
            return _pem(jws.load_public(data.decode("latin-1")))
        except UnusableKey as unusable:
            raise FieldRefused("key.public_key", f"can't be used: {unusable}") from None

    def schema(self) -> Schema:
        return Base64(_MAX_BASE64).schema() | {"description": "A public key as PEM."}


class NewKey(Request, frozen=True, kw_only=True):
    type: Annotated[str, OneOf((TYPE,))] = TYPE
    expiration_date: Annotated[datetime, Instant()] | None = None
    public_key: Annotated[str, PublicKey()] | None = None


class KeyCreated(Answer, frozen=True, kw_only=True):
    """`id` is present for keys of applications. `key_details` is the key file in base64."""

    key_id: str
    details: Details
    id: str = ""
    key_details: str = ""


class RegisteredKeyView(Answer, frozen=True, kw_only=True):
    id: str
    details: Details
    type: str
    expiration_date: datetime
    last_used_at: datetime | None = None


class KeyFound(Answer, frozen=True, kw_only=True):
    key: RegisteredKeyView


class KeysFound(Answer, frozen=True, kw_only=True):
    """A page of results. `nextCursor` is present if there may be more."""

    details: SearchDetails
    result: list[RegisteredKeyView] = []
    next_cursor: str = ""


class RegisteredKeys(Answer, frozen=True, kw_only=True):
    details: ListDetails
    result: list[RegisteredKeyView] = []


class KeyOwner(Struct, frozen=True):
    """An owner of registered keys: the application or service user `id` in the organization
    `org_id`.

    `collection` is where its keys are stored, `names` are the members by which a key file
    identifies the owner, and `guards` are writes for the unit that stores a key, so that it is
    stored only if the owner still exists.
    """

    collection: Collection[RegisteredKey]
    id: str
    org_id: str
    names: Mapping[str, str]
    guards: tuple[Write, ...] = ()

    @property
    def is_application(self) -> bool:
        return "appId" in self.names


async def create(
    service: Service, call: Call, owner: KeyOwner, request: NewKey
) -> Change[KeyCreated]:
    """Registers the public key in the request as a key of the owner, or without one generates a
    key pair and returns its private key.

    Raises InvalidArgument (the expiration date), NotFound (the owner was deleted meanwhile).
    """
    now = service.clock.now()
    expires_at = expirations.expiration(
        request.expiration_date,
        now,
        service.config.key_max_days,
        fallback=opaque_tokens.LASTS_UNTIL,
        past_problem=FieldProblem("key.expiration_past", "expirationDate", "is in the past"),
    )
    private: Any = None
    if request.public_key is None:  # in a thread: generating an RSA key would block
        private = await asyncio.to_thread(ALGORITHMS["RS256"].generate)
    record = RegisteredKey(
        id=service.random.id(),
        owner_id=owner.id,
        public=request.public_key or _pem(private.public_key()),
        created_at=now,
        expires_at=expires_at,
    )
    writes = changes.created(
        service,
        call,
        owner.collection,
        record,
        f"{_event_object(owner)}.created",
        {"owner": owner.id},
        owner.org_id,
    )
    answer = KeyCreated(
        key_id=record.id,
        id=record.id if owner.is_application else "",
        key_details=_key_file(owner, record, private) if private else "",
        details=answers.details(record, owner.org_id),
    )
    return Change(answer, [*writes, *owner.guards])


async def find_all(service: Service, owner: KeyOwner) -> RegisteredKeys:
    """Returns the owner's keys, at most a thousand of them."""
    where = {"owner_id": owner.id}
    details, keys = await paging.first_page(service, owner.collection, where)
    views = await last_uses.with_last_uses(service, [_view(owner, key) for key in keys])
    return RegisteredKeys(details=details, result=views)


async def search(service: Service, owner: KeyOwner, request: Search) -> KeysFound:
    """Returns a page of the owner's keys. Raises InvalidArgument (the cursor)."""
    of_owner = Filter(path="owner_id", value=owner.id)
    page = await management_search.find(service, owner.collection, request.query, [of_owner])
    return KeysFound(
        details=page.details,
        result=await last_uses.with_last_uses(
            service, [_view(owner, key) for key in page.records]
        ),
        next_cursor=page.next_cursor,
    )


async def show(service: Service, owner: KeyOwner, key_id: str) -> KeyFound:
    """Returns one of the owner's keys. Raises NotFound."""
    key = _view(owner, await _find(service, owner, key_id))
    return KeyFound(key=(await last_uses.with_last_uses(service, [key]))[0])


async def remove(service: Service, call: Call, owner: KeyOwner, key_id: str) -> Change[Changed]:
    """Removes a key of the owner, which no longer verifies assertions. Raises NotFound."""
    key = await _find(service, owner, key_id)
    event = f"{_event_object(owner)}.deleted"
    return changes.removed(service, call, owner.collection, key, event, owner.org_id).change(
        last_uses.deletion(key.id)
    )


async def _find(service: Service, owner: KeyOwner, key_id: str) -> RegisteredKey:
    key = await service.store.get(owner.collection, key_id)
    if key is None or key.owner_id != owner.id:
        raise NotFound("there is no such key", error_code="key.not_found")
    return key


def _event_object(owner: KeyOwner) -> str:
    return owner.collection.name.removesuffix("s")


def _view(owner: KeyOwner, key: RegisteredKey) -> RegisteredKeyView:
    details = answers.details(key, owner.org_id)
    return RegisteredKeyView(id=key.id, details=details, type=TYPE, expiration_date=key.expires_at)


def _pem(public: Any) -> str:
    key_format = serialization.PublicFormat.SubjectPublicKeyInfo
    data: bytes = public.public_bytes(serialization.Encoding.PEM, key_format)
    return data.decode()


def _key_file(owner: KeyOwner, record: RegisteredKey, private: Any) -> str:
    """Returns the key file that client libraries read, in base64.

    It contains the private key as PEM in the form of PKCS #1.
    """
    key_format = serialization.PrivateFormat.TraditionalOpenSSL
    pem = private.private_bytes(serialization.Encoding.PEM, key_format, _NO_PASSWORD)
    kind = "application" if owner.is_application else "serviceaccount"
    file = {"type": kind, "keyId": record.id, "key": pem.decode(), **owner.names}
    file |= {"expirationDate": record.expires_at}
    return base64.b64encode(msgspec.json.encode(file)).decode()
