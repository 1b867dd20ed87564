"""Calls on the public keys by which service users authenticate (RFC 7523 2.1)."""

from __future__ import annotations

from idp.changes import Change
from idp.management.call import Call
from idp.management.projects import key_owners, registered_keys
from idp.management.projects.registered_keys import (
    KeyCreated,
    KeyFound,
    KeysFound,
    NewKey,
    RegisteredKeys,
)
from idp.management.search import Search
from idp.schema.answers import Changed
from idp.service import Service


async def find_all(service: Service, call: Call, user_id: str) -> RegisteredKeys:
    """Returns the keys of a service user. Raises NotFound, FailedPrecondition (the user is a
    person)."""
    owner = await key_owners.service_user(service, call, user_id)
    return await registered_keys.find_all(service, owner)


async def search(service: Service, call: Call, user_id: str, request: Search) -> KeysFound:
    """Returns the keys of a service user, a page at a time.

    Raises NotFound, FailedPrecondition (the user is a person), InvalidArgument (the cursor).
    """
    owner = await key_owners.service_user(service, call, user_id)
    return await registered_keys.search(service, owner, request)


async def create(
    service: Service, call: Call, user_id: str, request: NewKey
) -> Change[KeyCreated]:
    """Registers a public key of a service user, or generates a key pair for it.

    Raises NotFound, FailedPrecondition (the user is a person), PermissionDenied, InvalidArgument.
    """
    owner = await key_owners.own_service_user(service, call, user_id)
    return await registered_keys.create(service, call, owner, request)


async def show(service: Service, call: Call, user_id: str, key_id: str) -> KeyFound:
    """Returns one key of a service user. Raises NotFound, FailedPrecondition (the user is a
    person)."""
    owner = await key_owners.service_user(service, call, user_id)
    return await registered_keys.show(service, owner, key_id)


async def remove(service: Service, call: Call, user_id: str, key_id: str) -> Change[Changed]:
    """Removes a key of a service user, which cannot authenticate with it from then on.

    Raises NotFound, FailedPrecondition (the user is a person), PermissionDenied.
    """
    owner = await key_owners.own_service_user(service, call, user_id)
    return await registered_keys.remove(service, call, owner, key_id)
