"""Personal access tokens that this process has refused, so that each is read once in a while."""

from __future__ import annotations

from collections import OrderedDict
from datetime import datetime, timedelta
from typing import Final

from idp.foundation import opaque_tokens

# Short: a token may come into the store later, by an import.
REMEMBERED_FOR: Final = timedelta(seconds=10)
MAX_TOKENS: Final = 10_000


class RefusedTokens:
    """The digests of tokens that were refused in the last seconds."""

    def __init__(self) -> None:
        self._refused_at: OrderedDict[str, datetime] = OrderedDict()

    def add(self, token: str, now: datetime) -> None:
        """Remembers a token that is not in the store, or that has ended."""
        digest = opaque_tokens.digest(token)
        self._refused_at.pop(digest, None)
        if len(self._refused_at) >= MAX_TOKENS:
            self._refused_at.popitem(last=False)
        self._refused_at[digest] = now

    def has(self, token: str, now: datetime) -> bool:
        """Returns whether the token was refused within the last seconds; a clock that was set back
        forgets it."""
        refused_at = self._refused_at.get(opaque_tokens.digest(token))
        return refused_at is not None and refused_at <= now < refused_at + REMEMBERED_FOR
