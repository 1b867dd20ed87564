"""JWT assertions by which clients and service users authenticate (RFC 7523 3).

An assertion is signed by a key that is registered for its issuer, is about the issuer itself
(`iss` = `sub`), is meant for this service alone and is valid for an hour at most. Each is accepted
once, over all processes: by its `jti`, or by its signed text where a `jti` may be missing.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec
from msgspec import Struct

from idp.foundation import opaque_tokens, strict_json
from idp.foundation.errors import InvalidArgument
from idp.keys import jws
from idp.keys.jws import NotAToken, Parsed, UnusableKey
from idp.oauth.paths import TOKEN
from idp.oauth.refusals import details as refusal_details
from idp.records import USED_VALUES, RegisteredKey, UsedValue
from idp.service import Service
from storage import MAX_ID_CHARACTERS, Conflict, Insert
from storage.confirmed_commit import commit_confirmed

ALGORITHMS: Final = ("RS256", "PS256", "ES256", "EdDSA")
MAX_LIFETIME: Final = timedelta(hours=1)
SKEW: Final = timedelta(seconds=10)
# The same words for an issuer that does not exist, is not active or may not send assertions: so
# nobody finds out which issuers there are.
UNKNOWN_KEY: Final = (
    "no key with the kid of the assertion is registered for its iss, or iss may not use it"
)
_LATEST: Final = 253402300799  # the last second of the year 9999


class AssertionClaims(Struct, frozen=True):
    """The claims of an assertion that this service reads; the times are seconds since 1970."""

    iss: str
    sub: str
    aud: str | list[str]
    exp: int | float
    iat: int | float | None = None
    nbf: int | float | None = None
    jti: str | None = None


class ClientAssertion(Struct, frozen=True):
    """A parsed assertion; nothing in it may be trusted before `verify`."""

    parsed: Parsed
    claims: AssertionClaims

    @property
    def kid(self) -> str:
        """The id of the key that the assertion names."""
        return self.parsed.header.kid


class AssertionRefused(Exception):
    """The assertion does not authenticate its issuer. The message, `details`, is for the log and
    the administrator.

    `description` is for the client: it says what is wrong with the assertion, and nothing of what
    is stored but whether a key is registered (`UNKNOWN_KEY`).
    """

    def __init__(self, description: str, details: str) -> None:
        super().__init__(details)
        self.description = description


def read(text: str) -> ClientAssertion:
    """Parses an assertion without verifying it. Raises `AssertionRefused` if it is malformed."""
    try:
        parsed = jws.parse_foreign(text)
        claims = msgspec.convert(strict_json.decode(parsed.payload), AssertionClaims, strict=True)
    except NotAToken as error:
        description = f"the assertion can not be read: {error}"
        raise AssertionRefused(description, f"The assertion can't be read: {error}.") from None
    except InvalidArgument:
        raise AssertionRefused(
            "the claims of the assertion are not one JSON object",
            "The assertion's claims are not one JSON object.",
        ) from None
    except msgspec.ValidationError as error:
        raise AssertionRefused(
            "the assertion lacks one of iss, sub, aud and exp, or a claim has a wrong type",
            f"The assertion's claims are not as they should be: {error}.",
        ) from None
    # These name records to read or to store, so their length is bounded.
    for name, value in (("kid", parsed.header.kid), ("iss", claims.iss), ("jti", claims.jti)):
        if value is not None and not 0 < len(value) <= MAX_ID_CHARACTERS:
            raise AssertionRefused(
                f"{name} of the assertion is empty or too long",
                f"{name} has {refusal_details.characters(value)}.",
            )
    return ClientAssertion(parsed, claims)


async def verify(
    service: Service,
    assertion: ClientAssertion,
    key: RegisteredKey | None,
    *,
    needs_jti: bool,
    path: str = TOKEN,
) -> None:
    """Verifies an assertion's key, signature and claims, and stores that the assertion was used.

    `key` is the registered key that its `kid` names, None if there is none; `needs_jti` refuses an
    assertion without a `jti`, and `path` is the endpoint that received it. Raises
    `AssertionRefused`, also for an assertion that was used before.
    """
    claims = assertion.claims
    check(service, assertion, key, path)
    if claims.iss != claims.sub:
        issuer, subject = refusal_details.quoted(claims.iss), refusal_details.quoted(claims.sub)
        raise AssertionRefused(
            "iss and sub of the assertion differ", f"iss and sub differ: {issuer} and {subject}."
        )
    if claims.jti is None and needs_jti:
        raise AssertionRefused(
            "the assertion has no jti", "The assertion has no jti, so it could be used again."
        )
    # Last: an assertion that is refused for another reason is not used up.
    await _store_use(service, assertion)


def check(
    service: Service, assertion: ClientAssertion, key: RegisteredKey | None, path: str = TOKEN
) -> None:
    """Verifies an assertion's signature, audience and times. Raises `AssertionRefused`.

    `key` is the registered key that its `kid` names, or None. A key of another owner than the
    assertion's issuer is refused as an unknown one is. `path` is the endpoint that received it.
    Neither `sub` nor `jti` is checked.
    """
    claims = assertion.claims
    if key is None or key.owner_id != claims.iss:
        kid = refusal_details.quoted(assertion.kid)
        raise AssertionRefused(
            UNKNOWN_KEY, f"No key {kid} is registered for {refusal_details.quoted(claims.iss)}."
        )
    _check_signature(assertion, key)
    _check_audience(claims, _audiences(service, path))
    _check_times(claims, service.clock.now())


def _check_signature(assertion: ClientAssertion, key: RegisteredKey) -> None:
    beginning = f"The key {refusal_details.quoted(key.id)} does not verify it"
    try:
        jws.verify_foreign(jws.load_public(key.public), assertion.parsed, ALGORITHMS)
    except UnusableKey as error:
        # The reason is about the stored key, so it is for the administrator alone.
        description = "the key with the kid of the assertion can not be used"
        raise AssertionRefused(description, f"{beginning}: {error}.") from None
    except NotAToken as error:
        description = f"the key with its kid does not verify the assertion: {error}"
        raise AssertionRefused(description, f"{beginning}: {error}.") from None


def _audiences(service: Service, path: str) -> list[str]:
    """Returns what may be in `aud`: the issuer, the token endpoint (RFC 7523 3), and the endpoint
    that received the assertion (RFC 9126 2)."""
    issuer = service.config.issuer
    return list(dict.fromkeys([issuer, issuer + TOKEN, issuer + path]))


def _check_audience(claims: AssertionClaims, accepted: list[str]) -> None:
    audience = [claims.aud] if isinstance(claims.aud, str) else claims.aud
    # An assertion that is also meant for another service could be replayed by that one.
    if audience and set(audience) <= set(accepted):
        return
    sent = ", ".join(refusal_details.quoted(each) for each in audience[:5]) or "nothing"
    *first, last = (f"`{each}`" for each in accepted)
    requirement = f"has to be {', '.join(first)} or {last}"
    raise AssertionRefused(
        f"aud of the assertion {requirement.replace('`', '')}",
        f"aud is {sent}, and {requirement}.",
    )


def _check_times(claims: AssertionClaims, now: datetime) -> None:
    expires, issued = _instant("exp", claims.exp), _instant("iat", claims.iat)
    begins = _instant("nbf", claims.nbf)
    # The clocks of the client and of this service may differ by `SKEW`.
    if expires is None or expires + SKEW <= now:
        late = refusal_details.span(now - expires) if expires else ""
        raise AssertionRefused("the assertion has expired", f"The assertion expired {late} ago.")
    # The record of a used assertion is stored until it expires, so the time is bounded.
    if expires > now + MAX_LIFETIME + SKEW:
        raise _time_refused("exp", "more than an hour ahead")
    _check_beginning("iat", issued, now)
    if issued is not None and issued < now - MAX_LIFETIME - SKEW:
        raise _time_refused("iat", "more than an hour ago")
    _check_beginning("nbf", begins, now)


def _check_beginning(name: str, instant: datetime | None, now: datetime) -> None:
    if instant is not None and instant > now + SKEW:
        ahead = refusal_details.span(instant - now)
        raise _time_refused(name, f"{ahead} ahead of the clock of this service")


def _time_refused(name: str, what: str) -> AssertionRefused:
    return AssertionRefused(f"{name} of the assertion is {what}", f"{name} is {what}.")


def _instant(name: str, seconds: float | None) -> datetime | None:
    if seconds is None:
        return None
    if not 0 <= seconds <= _LATEST:
        raise _time_refused(name, "no instant")
    return datetime.fromtimestamp(seconds, UTC)


def used_value_of(claims: AssertionClaims, jti: str) -> UsedValue:
    """Returns the record that an assertion was used, for the caller to insert.

    `jti` is the claim, which the assertion must have here. The record's id depends on `iss` and
    `jti` alone, so of several requests with the same assertion only one can insert it.
    """
    expires = datetime.fromtimestamp(claims.exp, UTC)
    # The record lasts longer than the assertion is accepted, also with a clock that differs.
    return UsedValue(
        id=opaque_tokens.digest(f"{claims.iss}\n{jti}"), expires_at=expires + 2 * SKEW
    )


def _used_value_without_jti(assertion: ClientAssertion) -> UsedValue:
    """Returns the record of a used assertion without a `jti`.

    The signed text distinguishes it from all others; the signature does not, because one text has
    many valid signatures by an EC key.
    """
    expires = datetime.fromtimestamp(assertion.claims.exp, UTC)
    signed = opaque_tokens.digest(assertion.parsed.signing_input.decode("ascii"))
    return UsedValue(id=signed, expires_at=expires + 2 * SKEW)


async def _store_use(service: Service, assertion: ClientAssertion) -> None:
    jti = assertion.claims.jti
    used_value = (
        used_value_of(assertion.claims, jti)
        if jti is not None
        else _used_value_without_jti(assertion)
    )
    try:
        await commit_confirmed(service.store, Insert(USED_VALUES, used_value))
    except Conflict:
        why = "its jti counts once" if jti else "it has no jti, and counts once as it is"
        details = f"The assertion was used before: {why}."
        raise AssertionRefused("the assertion was used before", details) from None
