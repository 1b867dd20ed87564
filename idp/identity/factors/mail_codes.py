"""Codes that are sent by mail: eight digits, five attempts, and only a keyed digest in the
store."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from idp.foundation import base64url, opaque_tokens
from idp.foundation.errors import IdpError
from idp.foundation.texts import typed_texts
from idp.service import Service

DIGITS: Final = 8  # 26 bits
MAX_ATTEMPTS: Final = 5
_COUNT_WINDOW: Final = timedelta(days=2)  # longer than any code is valid


class MailCodeRefused(IdpError):
    """The code is not accepted. The error code gives the reason."""

    error_code = "code.wrong"


def new(service: Service) -> str:
    """Returns a new random code."""
    # With 128 bits the remainder is practically unbiased.
    number = int.from_bytes(service.random.token_bytes(16), "big")
    return f"{number % 10**DIGITS:0{DIGITS}}"


def digest(service: Service, issue: str, address: str, code: str) -> str:
    """Returns the keyed digest that is stored of a code. It is bound to the address, and to
    `issue`, the id of the record for which the code was made."""
    return base64url.encode(service.master_key.mac("mail-code", f"{issue}\n{address}\n{code}"))


async def count(service: Service, issue: str) -> None:
    """Counts an attempt at the code of `issue`, before anything else is counted or compared for
    it. Raises MailCodeRefused if there were five."""
    attempts = await service.store.increment(f"code:{issue}", window=_COUNT_WINDOW)
    if attempts.n > MAX_ATTEMPTS:
        raise MailCodeRefused("too many wrong codes: request a new one", error_code="code.tries")


def compare(service: Service, expected: str | None, issue: str, address: str, typed: str) -> None:
    """Raises MailCodeRefused unless `typed` is the code whose `digest` is `expected`. If that is
    None, every code is refused after the same work.

    `issue` and `address` are those for which the digest was made. The caller has counted the
    attempt (`count`).
    """
    digest_of_typed = digest(service, issue, address, typed_texts.digits(typed))
    if not opaque_tokens.equal(expected or "", digest_of_typed):
        raise MailCodeRefused("the code is wrong")
