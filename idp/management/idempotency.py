"""Repeatable calls: a call with an Idempotency-Key is carried out once.

The record of the call and its sealed answer are stored in the same unit as the changes of the
call. So neither a crash nor a concurrent call with the same key carries it out twice, and a
repetition within a day gets the same answer. An answer that holds secrets is stored separately,
for ten minutes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final

import msgspec

from idp.audit.held_units import AlreadyStored, HeldUnitRefused, HoldingStore
from idp.changes.repeatable_calls import Repeatable
from idp.foundation.errors import (
    AlreadyExists,
    Busy,
    IdpError,
    SecretGone,
)
from idp.records import MADE_CALLS, MADE_SECRETS, MadeCall, MadeSecret, sealed_fields
from idp.schema import answers
from idp.schema.answers import Answer
from idp.service import Service
from storage import Insert, StorageError, Update, Write

ANSWER_STORED_FOR: Final = timedelta(days=1)
SECRETS_STORED_FOR: Final = timedelta(minutes=10)
MAX_KEY_CHARACTERS: Final = 200
_PURPOSE: Final = sealed_fields.MADE_ANSWER.purpose
_MAX_ATTEMPTS: Final = 20  # while concurrent calls change the same records
_WAIT_SECONDS: Final = 5.0
_MAX_DURATION: Final = timedelta(seconds=30)  # after that the answer is considered lost
_POLL_SECONDS: Final = 0.05


Work = Callable[[Service], Awaitable[bytes]]


def set_answer_early(service: Service, answer: Answer) -> None:
    """Sets the answer that a repetition of the current call gets, for a call that commits several
    units: it is stored together with the next unit, so that a repetition gets it even if the call
    is interrupted afterwards. Does nothing for a call without an Idempotency-Key.

    `service` is the one that `once` passed to the call.
    """
    if isinstance(service.store, HoldingStore):
        service.store.answer_early(msgspec.json.encode(answer))


async def once(service: Service, call: Repeatable, work: Work) -> tuple[bytes, bool]:
    """Carries out `work`, unless a call with the same key was carried out already. Returns the
    answer as JSON, and whether it is that of the earlier call.

    `work` returns its answer as JSON; the service that it is called with stores the answer in the
    same unit as the last write of the work. Raises what `work` raises; AlreadyExists if the key
    was used for another request; SecretGone if the call was carried out and the secret in its
    answer is no longer stored; Busy if concurrent calls change the same records, or a call with
    this key is still being carried out.
    """
    failures = list[StorageError]()
    for _ in range(_MAX_ATTEMPTS):
        made_call = await _find(service, call)
        if made_call is not None:
            return await _earlier_answer(service, call, made_call), True
        holding = HoldingStore(
            service, failures, lambda answer: _record_writes(service, call, answer)
        )
        try:
            return await _attempt(service, call, holding, work), False
        except (AlreadyStored, HeldUnitRefused):
            continue
        except IdpError:
            # A concurrent call with the same key may have caused the refusal, by having been
            # carried out first: then its answer is returned in place of the error.
            made_call = None if holding.has_answer else await _find(service, call)
            if made_call is None:
                raise
            return await _earlier_answer(service, call, made_call), True
        finally:
            holding.drop()
    raise Busy("too many calls change the same record: repeat the call", retry_after_seconds=1)


async def _find(service: Service, call: Repeatable) -> MadeCall | None:
    """Returns the record of the call if it was carried out. Its answer must not rest on a record
    that can be rolled back, so a majority of the store's servers has to have it."""
    if await service.store.get(MADE_CALLS, call.id) is None:
        return None
    made_call: MadeCall | None = await service.store.get_confirmed(MADE_CALLS, call.id)
    return made_call


async def _attempt(service: Service, call: Repeatable, holding: HoldingStore, work: Work) -> bytes:
    """Carries out `work`, stores its writes together with its answer, and returns the answer.

    Raises AlreadyStored, HeldUnitRefused, and what `work` raises.
    """
    try:
        answer = await work(holding.service())
    except IdpError:
        await holding.flush()  # the unit that `work` committed before it refused the call
        raise
    if holding.has_answer:
        await _correct(service, call, answer)
    await holding.store_with_answer(answer)
    return answer


async def _correct(service: Service, call: Repeatable, answer: bytes) -> None:
    """Replaces the answer that was set in advance by the real one; a repetition may get either."""
    sealed = service.master_key.seal(answer, _PURPOSE)
    with suppress(StorageError):  # the call is done, and a repetition can get the other answer
        await service.store.commit(Update(MADE_CALLS, call.id, set={"sealed_answer": sealed}))


def _record_writes(service: Service, call: Repeatable, answer: bytes) -> list[Write]:
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
    """Returns the answer of the earlier call. Raises AlreadyExists, SecretGone, Busy."""
    if made_call.request_digest != call.digest:
        message = "this Idempotency-Key was used for another request"
        raise AlreadyExists(message, error_code="idempotency.other_request")
    if made_call.has_secret:
        secret = await service.store.get(MADE_SECRETS, call.id)
        if secret is None:
            raise _gone(made_call)
        return service.master_key.open(secret.sealed_answer, _PURPOSE)
    sealed = made_call.sealed_answer or await _await_answer(service, made_call)
    return service.master_key.open(sealed, _PURPOSE)


async def _await_answer(service: Service, made_call: MadeCall) -> str:
    """Returns the answer of a call that a worker of the previous release carries out; that release
    stores the answer after the change.

    Raises Busy if the answer may still come, SecretGone if it was lost.
    """
    deadline = service.timer.monotonic() + _WAIT_SECONDS
    while service.timer.monotonic() < deadline:
        await service.timer.sleep(_POLL_SECONDS)
        earlier = await service.store.get(MADE_CALLS, made_call.id)
        if earlier is not None and earlier.sealed_answer is not None:
            return earlier.sealed_answer
    if service.clock.now() - made_call.made_at < _MAX_DURATION:
        raise Busy("the call is still running", retry_after_seconds=2)
    raise _gone(made_call)


def _gone(made_call: MadeCall) -> SecretGone:
    suffix = f" for {made_call.made_id}" if made_call.made_id else ""
    return SecretGone(
        f"this call was carried out{suffix}, and the secret of its answer is no longer stored:"
        " generate another one"
    )
