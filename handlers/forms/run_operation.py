"""Runs an operation of the management API for the person who is signed in to the console."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from idp.api.operation import Operation, document_of
from idp.changes.repeatable_calls import Repeatable
from idp.identity.users.permissions import Rights
from idp.management import call as management_call
from idp.management.call import Call
from idp.records import User
from idp.service import Service

Document = dict[str, Any]


class OperationRun(Struct, frozen=True, kw_only=True):
    """An operation of the API with its arguments.

    `ids` are the values of the path parameters, and `authenticated_at` is the instant at which
    the person signed in. If the operation was run under the same `idempotency_key` before, it is
    not run again, and its first answer is returned.
    """

    operation: Operation
    ids: Sequence[str] = ()
    document: Document | None = None
    org_id: str | None = None
    if_match: int | None = None
    idempotency_key: str | None = None
    authenticated_at: datetime | None = None


async def run(
    service: Service, caller: User, rights: Rights, operation_run: OperationRun
) -> Document:
    """Runs the operation for the user `caller` with these permissions, and returns its answer.
    Raises PermissionDenied, NotFound, InvalidArgument, and the errors of the operation."""
    operation = operation_run.operation
    ids = operation.path_values(operation_run.ids)
    call = Call(
        caller,
        rights,
        operation.permission,
        operation_run.org_id,
        operation_run.if_match,
        authenticated_at=operation_run.authenticated_at,
    )
    call = await management_call.admitted(service, call)
    arguments = operation.arguments(operation_run.document or {})
    if not operation_run.idempotency_key:
        answer = await operation.carry_out(service, call, *ids, **arguments)
        return document_of(answer)
    repeatable = _repeatable(call, operation_run)
    encoded, _ = await operation.carry_out_once(repeatable, service, call, *ids, **arguments)
    return msgspec.json.decode(encoded, type=Document)


def _repeatable(call: Call, operation_run: OperationRun) -> Repeatable:
    line = [
        f"{operation_run.operation.method} {operation_run.operation.path}",
        list(operation_run.ids),
        operation_run.org_id,
        operation_run.if_match,
        operation_run.document,
    ]
    # The prefix separates these keys from those that the person's own API calls use.
    return Repeatable(
        call.actor,
        f"console {operation_run.idempotency_key}",
        msgspec.json.encode(line),
        operation_run.ids,
    )
