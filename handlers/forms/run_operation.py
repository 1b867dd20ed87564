"""Runs an operation of the management API for the person who is signed in to the console."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from idp.api import OPERATIONS
from idp.api.operation import Operation
from idp.foundation.errors import NotFound
from idp.identity.users.permissions import Rights
from idp.management import call as management_call
from idp.management import idempotency
from idp.management.call import Call
from idp.management.idempotency import Repeatable
from idp.records import User
from idp.schema import reading
from idp.service import Service
from storage import MAX_ID_CHARACTERS

BY_NAME: Final[Mapping[str, Operation]] = {
    f"{each.method} {each.path}": each for each in OPERATIONS
}

Document = dict[str, Any]


class Run(Struct, frozen=True, kw_only=True):
    """An operation of the API, by its method and path, with its arguments.

    `ids` are the values of the path parameters. If the operation was run under the same
    `idempotency_key` before, it is not run again, and its first answer is returned.
    """

    operation: str
    ids: Sequence[str] = ()
    document: Document | None = None
    org_id: str | None = None
    if_match: int | None = None
    idempotency_key: str | None = None


async def run(service: Service, caller: User, rights: Rights, asked: Run) -> Document:
    """Runs the operation for the user `caller` with these permissions, and returns its answer.
    Raises PermissionDenied, NotFound, InvalidArgument, and what the operation raises."""
    operation = BY_NAME[asked.operation]
    # The same limits as in `handlers/api.py`.
    if any(len(id) > MAX_ID_CHARACTERS or not id.isprintable() for id in asked.ids):
        raise NotFound("there is nothing with such an id")
    call = Call(caller, rights, operation.permission, asked.org_id, asked.if_match)
    call = await management_call.admitted(service, call)
    document = asked.document or {}
    given: dict[str, object] = {}
    if operation.query is not None:
        given = {"request": reading.read(operation.query, document)}
    elif operation.body == "document":
        given = {"document": document}
    elif operation.request is not None:
        request = reading.read(operation.request, document)
        given = {"request": request} if operation.body else {}

    async def work(service: Service) -> bytes:
        return msgspec.json.encode(await operation.run(service, call, *asked.ids, **given))

    if asked.idempotency_key is None:
        return _read(await work(service))
    answer, _ = await idempotency.once(service, _repeatable(call, asked), work)
    return _read(answer)


def _read(answer: bytes) -> Document:
    document: Document = msgspec.json.decode(answer)
    return document


def _repeatable(call: Call, asked: Run) -> Repeatable:
    line = [asked.operation, list(asked.ids), asked.org_id, asked.if_match, asked.document]
    # The prefix separates these keys from those that the person's own API calls use.
    return Repeatable(
        call.actor, f"console {asked.idempotency_key}", msgspec.json.encode(line), asked.ids
    )
