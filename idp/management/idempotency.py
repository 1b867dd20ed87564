"""Calls that may be repeated: under an Idempotency-Key a call is carried out once.

That the call was made, and its sealed answer, are stored in the very unit of what it did: so
neither a crash nor a twin makes it happen twice, and a repetition within a day gets the same
answer. Secrets of an answer are kept apart, for ten minutes.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final

import msgspec
from msgspec import Struct

from idp.audit.drafts import HeldUnitRefused, HoldingStore, Twin
from idp.foundation import base64url, opaque_tokens
from idp.foundation.errors import (
    AlreadyExists,
    Busy,
    FieldProblem,
    IdpError,
    InvalidArgument,
    SecretGone,
)
from idp.records import MADE_CALLS, MADE_SECRETS, MadeCall, MadeSecret
from idp.schema import answers
from idp.schema.answers import Answer
from idp.service import Service
from storage import Insert, StorageError, Update, Write

KEPT_FOR: Final = timedelta(days=1)
SECRETS_KEPT_FOR: Final = timedelta(minutes=10)
MAX_KEY_CHARACTERS: Final = 200
_PURPOSE: Final = "made call"
_TRIES: Final = 20  # while others change the same
_WAITS_SECONDS: Final = 5.0
_STILL_UNDER_WAY: Final = timedelta(seconds=30)
_LOOKS_EVERY_SECONDS: Final = 0.05


class Repeatable(Struct, frozen=True):
    """A call as its caller names it: who, under which key, what they ask for, and of which ids."""

    caller_id: str
    key: str
    request: bytes
    ids: Sequence[str] = ()

    @property
    def id(self) -> str:
        return opaque_tokens.digest(f"{self.caller_id}\n{self.key}")

    @property
    def digest(self) -> str:
        return base64url.encode(hashlib.sha256(self.request).digest())


Work = Callable[[Service], Awaitable[bytes]]


def read_key(value: str) -> str:
    """The header Idempotency-Key. Raises InvalidArgument."""
    if not 0 < len(value) <= MAX_KEY_CHARACTERS or not value.isascii() or not value.isprintable():
        message = f"must have 1 to {MAX_KEY_CHARACTERS} printable characters"
        raise InvalidArgument([FieldProblem("idempotency.key", "Idempotency-Key", message)])
    return value


def foretell(service: Service, answer: Answer) -> None:
    """Give the answer of a call before its first unit, where several units follow."""
    if isinstance(service.store, HoldingStore):
        service.store.foretell(msgspec.json.encode(answer))


async def once(service: Service, call: Repeatable, work: Work) -> tuple[bytes, bool]:
    """The answer of `work`, and whether it is that of an earlier call.

    Raises what `work` raises; AlreadyExists: the key was used for another request; SecretGone: the
    call was carried out, and the secret that it was answered with is not kept any more.
    """
    failures = list[StorageError]()
    for _ in range(_TRIES):
        made = await service.store.get(MADE_CALLS, call.id)
        if made is not None:
            return await _earlier(service, call, made), True
        draft = HoldingStore(service, failures, lambda answer: _mark(service, call, answer))
        try:
            return await _attempt(service, call, draft, work), False
        except (Twin, HeldUnitRefused):
            continue
        except IdpError:
            # A twin that was faster may be what it was refused for.
            made = None if draft.is_marked else await service.store.get(MADE_CALLS, call.id)
            if made is None:
                raise
            return await _earlier(service, call, made), True
        finally:
            draft.drop()
    raise Busy("too many change the same: repeat the call", retry_after_seconds=1)


async def _attempt(service: Service, call: Repeatable, draft: HoldingStore, work: Work) -> bytes:
    """The answer, stored with what was done. Raises Twin, HeldUnitRefused, and what `work`
    raises."""
    try:
        answer = await work(draft.service())
    except IdpError:
        await draft.flush()  # what was written before the refusal
        raise
    if draft.is_marked:
        await _correct(service, call, answer)
    await draft.stored(answer)
    return answer


async def _correct(service: Service, call: Repeatable, answer: bytes) -> None:
    """Keep the answer itself in place of the one that was foretold; either may be repeated."""
    sealed = service.vault.seal(answer, _PURPOSE)
    with suppress(StorageError):
        await service.store.commit(Update(MADE_CALLS, call.id, set={"sealed_answer": sealed}))


def _mark(service: Service, call: Repeatable, answer: bytes) -> list[Write]:
    """The writes that tell that the call was made, and what it was answered."""
    now, told = service.clock.now(), msgspec.json.decode(answer)
    secrets = answers.secrets_in(told)
    public = {name: value for name, value in told.items() if name not in secrets}
    made = MadeCall(
        id=call.id,
        request_digest=call.digest,
        made_at=now,
        expires_at=now + KEPT_FOR,
        sealed_answer=service.vault.seal(msgspec.json.encode(public), _PURPOSE),
        has_secret=bool(secrets),
        made_id=_made_id(told) or next(reversed(call.ids), ""),
    )
    if not secrets:
        return [Insert(MADE_CALLS, made)]
    secret = MadeSecret(
        id=call.id,
        sealed_answer=service.vault.seal(answer, _PURPOSE),
        expires_at=now + SECRETS_KEPT_FOR,
    )
    return [Insert(MADE_CALLS, made), Insert(MADE_SECRETS, secret)]


def _made_id(told: dict[str, Any]) -> str:
    """The id of what an answer says was made: its first."""
    ids = [name for name in told if name == "id" or name.endswith("Id")]
    return str(told[ids[0]]) if ids else ""


async def _earlier(service: Service, call: Repeatable, made: MadeCall) -> bytes:
    """What the call was answered that came first. Raises AlreadyExists, SecretGone, Busy."""
    if made.request_digest != call.digest:
        message = "this Idempotency-Key was used for another request"
        raise AlreadyExists(message, slug="idempotency.other_request")
    if made.has_secret:
        secret = await service.store.get(MADE_SECRETS, call.id)
        if secret is None:
            raise _gone(made)
        return service.vault.open(secret.sealed_answer, _PURPOSE)
    sealed = made.sealed_answer or await _awaited(service, made)
    return service.vault.open(sealed, _PURPOSE)


async def _awaited(service: Service, made: MadeCall) -> str:
    """The answer of a call that a worker of the version before carries out, which stores the
    answer after the deed. Raises Busy: it may still come; SecretGone: it was lost."""
    deadline = time.monotonic() + _WAITS_SECONDS
    while time.monotonic() < deadline:
        await asyncio.sleep(_LOOKS_EVERY_SECONDS)
        found = await service.store.get(MADE_CALLS, made.id)
        if found is not None and found.sealed_answer is not None:
            return found.sealed_answer
    if service.clock.now() - made.made_at < _STILL_UNDER_WAY:
        raise Busy("the call is still being carried out", retry_after_seconds=2)
    raise _gone(made)


def _gone(made: MadeCall) -> SecretGone:
    named = f" for {made.made_id}" if made.made_id else ""
    return SecretGone(
        f"this call was carried out{named}, and the secret of its answer is kept no longer: make"
        " another one"
    )
