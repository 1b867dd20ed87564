"""Codes that are sent by mail: eight digits, five tries, and nothing usable in the store."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

from idp.foundation import base64url, opaque_tokens
from idp.foundation.errors import IdpError
from idp.service import Service

DIGITS: Final = 8  # 26 bits
TRIES: Final = 5
_COUNTED: Final = timedelta(days=2)  # longer than any code counts
_BETWEEN: Final = re.compile("[\\s\u200e\u200f\u2010-\u2015-]+")
_MAX_TYPED: Final = 100


class MailCodeRefused(IdpError):
    """The code does not count. The slug tells why."""

    slug = "code.wrong"


def new(service: Service) -> str:
    """A code that was never sent before."""
    number = int.from_bytes(service.random.token_bytes(16), "big")
    return f"{number % 10**DIGITS:0{DIGITS}}"


def digest(service: Service, issue: str, address: str, code: str) -> str:
    """What is stored of a code: it counts for this issue and this address alone."""
    return base64url.encode(service.vault.mac("mail-code", f"{issue}\n{address}\n{code}"))


async def check(
    service: Service, expected: str | None, issue: str, address: str, typed: str
) -> None:
    """Raise MailCodeRefused unless this is the code that was sent.

    The try is counted before it is looked at, so that guesses made at once cost what they would
    one after another. Without an `expected` digest no code is right, after the same work.
    """
    count = await service.store.increment(f"code:{issue}", window=_COUNTED)
    if count.n > TRIES:
        raise MailCodeRefused("too many wrong codes: ask for a new one", slug="code.tries")
    found = digest(service, issue, address, digits(typed))
    if not opaque_tokens.same(expected or "", found):
        raise MailCodeRefused("the code is not right")


def digits(typed: str) -> str:
    """The digits as they were sent, in whatever groups and whichever digits they were typed."""
    bare = _BETWEEN.sub("", typed[:_MAX_TYPED])
    return "".join(str(int(c)) for c in bare) if bare.isdecimal() else ""
