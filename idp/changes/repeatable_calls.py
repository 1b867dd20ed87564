"""Repeatable calls: a call with an Idempotency-Key is carried out once.

The record of the call and its sealed answer are stored in the same unit as the change. So neither
a crash nor a concurrent call with the same key carries it out twice, and a repetition within a day
gets the same answer. An answer that holds secrets is stored separately, for ten minutes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any, Final

import msgspec
from msgspec import Struct

from idp.changes import committing
from idp.changes.change import Planned
from idp.changes.committing import Plan, UnitLimit, unlimited
from idp.foundation import base64url, opaque_tokens
from idp.foundation.errors import (
    AlreadyExists,
    FieldProblem,
    IdpError,
    InvalidArgument,
    SecretGone,
)
from idp.records import MADE_CALLS, MADE_SECRETS, MadeCall, MadeSecret, sealed_fields
from idp.schema import answers
from idp.service import Service
from storage import Conflict, Insert, StorageError, Update, Write

ANSWER_STORED_FOR: Final = timedelta(days=1)
SECRETS_STORED_FOR: Final = timedelta(minutes=10)
MAX_KEY_CHARACTERS: Final = 200
_PURPOSE: Final = sealed_fields.MADE_ANSWER.purpose


class Repeatable(Struct, frozen=True):
    """A call with the Idempotency-Key `key`, made by the user `caller_id`.

    `request` is the request line and the body, which must be the same in a repetition. `ids` are
    the record ids in the path; the last one names the changed record if the answer contains no id.
    `was_new` says that `is_new` has found no record of it.
    """

    caller_id: str
    key: str
    request: bytes
    ids: Sequence[str] = ()
    was_new: bool = False

    @property
    def id(self) -> str:
        return _id(self.caller_id, self.key)

    @property
    def digest(self) -> str:
        return base64url.encode(hashlib.sha256(self.request).digest())


def read_key(value: str) -> str:
    """Returns the value of the header Idempotency-Key. Raises InvalidArgument."""
    if not 0 < len(value) <= MAX_KEY_CHARACTERS or not value.isascii() or not value.isprintable():
        message = f"must have 1 to {MAX_KEY_CHARACTERS} printable characters"
        raise InvalidArgument([FieldProblem("idempotency.key", "Idempotency-Key", message)])
    return value


async def is_new(service: Service, caller_id: str, key: str) -> bool:
    """Returns whether no call of the caller with this key was carried out, for a look-up before
    the request is complete. One that is carried out after that makes the unit fail."""
    return await service.store.get(MADE_CALLS, _id(caller_id, key)) is None


def _id(caller_id: str, key: str) -> str:
    return opaque_tokens.digest(f"{caller_id}\n{key}")


async def commit_once(
    service: Service, call: Repeatable, plan: Plan[Any], limit: UnitLimit = unlimited
) -> tuple[bytes, bool]:
    """Commits the change that `plan` returns, unless a call with the same key was carried out
    already. Returns the answer as JSON, and whether it is that of the earlier call.

    A change without writes is not recorded, because repeating it changes nothing. Raises what
    `commit` raises; AlreadyExists if the key was used for another request; SecretGone if the
    secret of the earlier answer is no longer stored.
    """

    async def encoded() -> Planned[bytes]:
        return (await plan()).map(msgspec.json.encode)

    earlier = None if call.was_new else await _find(service, call)
    if earlier is not None:
        return await _earlier_answer(service, call, earlier), True
    try:
        change = await committing.stored(service, encoded, limit, partial(_record, service, call))
    except (IdpError, Conflict):
        # A concurrent call with the same key may have been carried out first.
        earlier = await _find(service, call)
        if earlier is None:
            raise
        return await _earlier_answer(service, call, earlier), True
    answer = await committing.finish(change)
    if answer != change.answer:
        await _correct(service, call, answer)
    return answer, False


async def _correct(service: Service, call: Repeatable, answer: bytes) -> None:
    """Replaces the recorded answer by that of the finished work; a repetition may get either."""
    sealed = service.master_key.seal(answer, _PURPOSE)
    with suppress(StorageError):  # the call is done, and a repetition can get the other answer
        await service.store.commit(Update(MADE_CALLS, call.id, set={"sealed_answer": sealed}))


async def _find(service: Service, call: Repeatable) -> MadeCall | None:
    """Returns the record of the call if it was carried out. Its answer must not rest on a record
    that can be rolled back, so a majority of the store's servers has to have it."""
    if await service.store.get(MADE_CALLS, call.id) is None:
        return None
    made_call: MadeCall | None = await service.store.get_confirmed(MADE_CALLS, call.id)
    return made_call


def _record(service: Service, call: Repeatable, answer: bytes) -> list[Write]:
    """Returns the writes that record the call and its answer."""
    now, answer_document = service.clock.now(), msgspec.json.decode(answer)
    # Secrets are stored in a record of their own, which expires much earlier than the answer.
    secrets = answers.secrets_in(answer_document)
    public = {name: value for name, value in answer_document.items() if name not in secrets}
    made_call = MadeCall(
        id=call.id,
        request_digest=call.digest,
        made_at=now,
        expires_at=now + ANSWER_STORED_FOR,
        sealed_answer=service.master_key.seal(msgspec.json.encode(public), _PURPOSE),
        has_secret=bool(secrets),
        made_id=_made_id(answer_document) or next(reversed(call.ids), ""),
    )
    if not secrets:
        return [Insert(MADE_CALLS, made_call)]
    secret = MadeSecret(
        id=call.id,
        sealed_answer=service.master_key.seal(answer, _PURPOSE),
        expires_at=now + SECRETS_STORED_FOR,
    )
    return [Insert(MADE_CALLS, made_call), Insert(MADE_SECRETS, secret)]


def _made_id(answer_document: dict[str, Any]) -> str:
    """Returns the id of the record that the call created: the first id in its answer."""
    ids = [name for name in answer_document if name == "id" or name.endswith("Id")]
    return str(answer_document[ids[0]]) if ids else ""


async def _earlier_answer(service: Service, call: Repeatable, made_call: MadeCall) -> bytes:
    """Returns the answer of the earlier call. Raises AlreadyExists, SecretGone."""
    if made_call.request_digest != call.digest:
        message = "this Idempotency-Key was used for another request"
        raise AlreadyExists(message, error_code="idempotency.other_request")
    sealed = made_call.sealed_answer
    if made_call.has_secret:
        secret = await service.store.get(MADE_SECRETS, call.id)
        sealed = secret.sealed_answer if secret else None
    if sealed is None:
        raise _gone(made_call)
    return service.master_key.open(sealed, _PURPOSE)


def _gone(made_call: MadeCall) -> SecretGone:
    suffix = f" for {made_call.made_id}" if made_call.made_id else ""
    return SecretGone(
        f"this call was carried out{suffix}, and the secret of its answer is no longer stored:"
        " generate another one"
    )
