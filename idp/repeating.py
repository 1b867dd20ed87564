"""Calls that may be repeated: under an Idempotency-Key a call is carried out once.

That the call was made is stored in the very unit of what it did; so neither a crash nor a twin
makes it happen twice. Its answer is kept for a day, sealed, and given again to whoever repeats it.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final, cast

from msgspec import Struct

from idp import base64url, credentials
from idp.errors import AlreadyExists, FieldProblem, InvalidArgument, RepeatedCall
from idp.records import MADE_CALLS, MadeCall
from idp.service import Service
from storage import Conflict, Insert, StorageError, Store, Unknown, Update, Write

KEPT_FOR: Final = timedelta(days=1)
MAX_KEY_CHARACTERS: Final = 200
_PURPOSE: Final = "made call"
_WAITS_SECONDS: Final = 5.0
_LOOKS_EVERY_SECONDS: Final = 0.05


class Repeatable(Struct, frozen=True):
    """A call as its caller names it: who, under which key, and what they ask for."""

    caller_id: str
    key: str
    request: bytes

    @property
    def id(self) -> str:
        return credentials.digest(f"{self.caller_id}\n{self.key}")

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


async def once(service: Service, call: Repeatable, work: Work) -> tuple[bytes, bool]:
    """The answer of `work`, and whether it is that of an earlier call.

    Raises what `work` raises; AlreadyExists: the key was used for another request; RepeatedCall:
    the call was carried out, and its answer is not at hand.
    """
    known = await service.store.get(MADE_CALLS, call.id)
    if known is None:
        marking = _Marking(service, call)
        with suppress(_Twin):
            answer = await work(replace(service, store=cast(Store, marking)))
            await marking.keep(answer)
            return answer, False
    return await _earlier(service, call), True


async def _earlier(service: Service, call: Repeatable) -> bytes:
    """What the call was answered that came first, which may be under way still."""
    deadline = time.monotonic() + _WAITS_SECONDS
    while True:
        made = await service.store.get(MADE_CALLS, call.id)
        if made is not None and made.request_digest != call.digest:
            message = "this Idempotency-Key was used for another request"
            raise AlreadyExists(message, slug="idempotency.other_request")
        if made is not None and made.sealed_answer is not None:
            return service.vault.open(made.sealed_answer, _PURPOSE)
        if time.monotonic() > deadline:
            raise RepeatedCall(
                "this call was carried out before, but its answer is not at hand: look up what it"
                " made, or ask again"
            )
        await asyncio.sleep(_LOOKS_EVERY_SECONDS)


class _Twin(Exception):
    """Another call with the same key was faster; nothing of this one was done."""


class _Marking:
    """The store of one call, whose first unit says also that the call was made."""

    def __init__(self, service: Service, call: Repeatable) -> None:
        self._service = service
        self._store = service.store
        self._call = call
        self._is_marked = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def keep(self, answer: bytes) -> None:
        """Keep the answer for who repeats the call; without it they are told that it is lost."""
        if not self._is_marked:
            return
        sealed = self._service.vault.seal(answer, _PURPOSE)
        with suppress(StorageError):
            kept = Update(MADE_CALLS, self._call.id, set={"sealed_answer": sealed})
            await self._store.commit(kept)

    async def commit(self, *writes: Write) -> None:
        if self._is_marked:
            await self._store.commit(*writes)
            return
        now = self._service.clock.now()
        made = MadeCall(
            id=self._call.id,
            request_digest=self._call.digest,
            made_at=now,
            expires_at=now + KEPT_FOR,
        )
        try:
            await self._store.commit(Insert(MADE_CALLS, made), *writes)
        except Conflict as conflict:
            if conflict.collection == MADE_CALLS.name:
                raise _Twin from None
            raise
        except Unknown:  # whoever asks what came of it hears of both at once
            self._is_marked = True
            raise
        self._is_marked = True
