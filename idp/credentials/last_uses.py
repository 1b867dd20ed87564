"""The last use of tokens, keys and secrets: exact to the hour, stored by a background task."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final, Protocol, TypeVar

from msgspec import structs

from idp.foundation import opaque_tokens
from idp.records import LAST_USES, LastUse
from idp.service import Service
from storage import Conflict, Delete, Insert, Stale, Unavailable, Unknown, Update, Write

EVERY: Final = timedelta(hours=1)
_MAX_KNOWN: Final = 10_000  # ids that one process remembers


class CredentialView(Protocol):
    """The answer for a token, key or secret; it also has a field `last_used_at`."""

    @property
    def id(self) -> str: ...


V = TypeVar("V", bound=CredentialView)


def record(service: Service, used_id: str, ends_at: datetime = opaque_tokens.LASTS_UNTIL) -> None:
    """Records that the token, key or secret with this id, which expires at `ends_at`, is used now.

    Returns before that is stored: a background task stores it, at most once an hour for each id.
    """
    now, recorded = service.clock.now(), service.last_uses
    last = recorded.get(used_id)
    if last is not None and now - last < EVERY:
        return
    if len(recorded) >= _MAX_KNOWN:
        # This bounds the memory; at worst each use is stored once more.
        recorded.clear()
    recorded[used_id] = now
    service.background_tasks.start(_store(service, used_id, now, ends_at))


async def _store(service: Service, used_id: str, now: datetime, ends_at: datetime) -> None:
    """Stores the use, unless another process has done so within the hour. While the store is
    unavailable, uses are not recorded."""
    with suppress(Conflict, Stale, Unavailable, Unknown):
        stored = await service.store.get(LAST_USES, used_id)
        if stored is None:
            last_use = LastUse(id=used_id, at=now, expires_at=ends_at)
            await service.store.commit(Insert(LAST_USES, last_use))
        elif now - stored.at >= EVERY:
            update = Update(LAST_USES, used_id, set={"at": now}, expect={"at": stored.at})
            await service.store.commit(update)


def deletion(used_id: str) -> Write:
    """Returns the write that deletes the recorded last use of a token, key or secret, for the unit
    that ends it."""
    return Delete(LAST_USES, used_id)


async def with_last_uses(service: Service, views: Sequence[V]) -> list[V]:
    """Returns the same answers, in this order, with `last_used_at` set from the store; unchanged
    where no use is recorded."""
    uses = await service.store.get_many([(LAST_USES, view.id) for view in views])
    pairs: Any = zip(views, uses, strict=True)
    return [structs.replace(view, last_used_at=use.at) if use else view for view, use in pairs]
