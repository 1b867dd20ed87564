"""Client authentication by the methods of RFC 6749 2.3 and OpenID Connect Core 9.

A client uses the one method that it is registered for, and only one in a request. Which part of a
failed authentication was wrong is for the administrator: in the log, and in the refusal's details.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Any, Final, Generic, NamedTuple, TypeVar
from urllib.parse import unquote_plus

from msgspec import Struct

from idp.credentials import client_secrets, last_uses
from idp.foundation import logs, opaque_tokens, tracing
from idp.oauth.authentication import claimed_client, jwt_assertions
from idp.oauth.authentication.claimed_client import NEW_ASSERTION, Claimed
from idp.oauth.authentication.jwt_assertions import AssertionRefused, ClientAssertion
from idp.oauth.errors import InvalidClient
from idp.oauth.params import Params
from idp.oauth.paths import TOKEN
from idp.oauth.refusals import details as refusal_details
from idp.oauth.refusals.client import CLIENT_CREDENTIAL, CLIENT_KNOWN, CLIENT_METHOD, CLIENT_NAMED
from idp.records import (
    APP_KEYS,
    APPLICATIONS,
    USERS,
    Application,
    AuthMethod,
    User,
)
from idp.service import Service
from storage import Follow, Key
from storage.following import Records

C = TypeVar("C", Application, User, Application | User)

TOKEN_METHODS: Final[tuple[AuthMethod, ...]] = (
    "client_secret_basic",
    "client_secret_post",
    "none",
    "private_key_jwt",
)
INTROSPECTION_METHODS: Final[tuple[AuthMethod, ...]] = ("client_secret_basic", "private_key_jwt")
_ID_CHARACTERS: Final = 200


class Accepted(Struct, frozen=True):
    """What an endpoint accepts: its methods, and the endpoint's own `path` in the audience of an
    assertion (RFC 9126 2)."""

    path: str
    methods: tuple[AuthMethod, ...] = TOKEN_METHODS


AT_TOKEN: Final = Accepted(TOKEN)


class Authenticated(NamedTuple, Generic[C]):
    """The authenticated sender of a request, and the records that were read with it.

    `records` has at least those with the keys `other_keys`. They are `fresh` unless an assertion
    was verified since: then what tokens depend on has to be read again.
    """

    caller: C
    records: Records
    is_fresh: bool

    @property
    def fresh(self) -> Records:
        """The records that need not be read again."""
        return self.records if self.is_fresh else Records()


async def authenticate(
    service: Service,
    authorization: str | None,
    params: Params,
    other_keys: Sequence[Key] = (),
    accepted: Accepted = AT_TOKEN,
    follow: Sequence[Follow] = (),
) -> Authenticated[Application]:
    """Returns the authenticated client, and the records with the keys `other_keys`.

    All are read together, with the records that `follow` states. `authorization` is the header,
    and `accepted` what the endpoint accepts. Raises `InvalidClient` and `InvalidRequest`.
    """
    with CLIENT_NAMED:
        claimed = claimed_client.read(authorization, params)
    records = await service.store.get_following([*claimed.keys, *other_keys], follow)
    client = await _authenticated(service, claimed, records, accepted)
    return Authenticated(client, records, claimed.assertion is None)


async def authenticate_any(
    service: Service,
    authorization: str | None,
    params: Params,
    other_keys: Sequence[Key] = (),
    accepted: Accepted = AT_TOKEN,
    follow: Sequence[Follow] = (),
) -> Authenticated[Application | User]:
    """Returns the authenticated client or service user, and the records with `other_keys`.

    A service user authenticates by its id and its own secret. `authorization` is the header of
    that name, and `accepted` what the endpoint accepts. Raises `InvalidClient` and
    `InvalidRequest`.
    """
    with CLIENT_NAMED:
        claimed = claimed_client.read(authorization, params)
    user_key: Key = (USERS, claimed.client_id)
    records = await service.store.get_following([*claimed.keys, user_key, *other_keys], follow)
    user = records.of(*user_key)
    # A service user has no other method here, so everything else is an application's request.
    if user is None or user.secret_hash is None or claimed.secret is None:
        client = await _authenticated(service, claimed, records, accepted)
        return Authenticated(client, records, claimed.assertion is None)
    try:
        with CLIENT_METHOD:
            _check_accepted(claimed.method, accepted.methods)
        with CLIENT_CREDENTIAL:
            credential_id = client_secrets.matching_id(user, claimed.secret, service.clock.now())
            if credential_id is None:
                raise InvalidClient("wrong secret of a service user", details=_length(claimed))
    except InvalidClient as refusal:
        refusal.failed_id = user.id
        raise
    last_uses.record(service, credential_id)
    return Authenticated(user, records, True)


async def unknown(service: Service, claimed: Claimed) -> InvalidClient:
    """Returns the error for a client_id that no application has.

    Its details say so if client_id and secret are swapped.
    """
    secret = claimed.secret or ""
    # Swapped values are recognised by one more read, which only a refused request costs.
    if 0 < len(secret) <= _ID_CHARACTERS and await service.store.get(APPLICATIONS, secret):
        return InvalidClient(
            "no such client",
            details="client_id and secret are swapped: the secret that was sent is a client_id.",
            fix="Swap them. The secret may be in logs of requests: generate another.",
        )
    details = refusal_details.no_client(service.config, claimed.client_id)
    return InvalidClient("no such client", details=details)


async def _authenticated(
    service: Service, claimed: Claimed, records: Records, accepted: Accepted
) -> Application:
    """Returns the authenticated client; `records` has those of `Claimed.keys`."""
    client: Application | None = records.of(APPLICATIONS, claimed.client_id)
    key = records.of(APP_KEYS, claimed.assertion.kid) if claimed.assertion else None
    with CLIENT_KNOWN:
        if client is None:
            refusal = await unknown(service, claimed)
            _describe_like_unknown_key(claimed, refusal)
            raise refusal
    logs.bind(client_id=client.id)
    tracing.record_client(client.id)
    try:
        credential_id = _checked(claimed, client, service.clock.now(), accepted.methods)
        if claimed.assertion is not None:
            await _verify(service, claimed.assertion, key, accepted.path)
    except InvalidClient as refusal:
        refusal.failed_id = client.id
        raise
    if credential_id:
        ends_at = key.expires_at if key else opaque_tokens.LASTS_UNTIL
        last_uses.record(service, credential_id, ends_at)
    return client


def _describe_like_unknown_key(claimed: Claimed, refusal: InvalidClient) -> None:
    """Gives the refusal of an assertion the description of one with an unknown key."""
    if claimed.assertion is not None:
        refusal.describe(jwt_assertions.UNKNOWN_KEY)


def _checked(
    claimed: Claimed, client: Application, now: datetime, methods: Collection[AuthMethod]
) -> str:
    """Calls `check`; a refusal carries the client, so that its developer can get a hint."""
    try:
        return check(claimed, client, now, methods)
    except InvalidClient as refusal:
        refusal.client = client
        _describe_like_unknown_key(claimed, refusal)
        raise


async def _verify(service: Service, assertion: ClientAssertion, key: Any, path: str) -> None:
    with CLIENT_CREDENTIAL:
        try:
            await jwt_assertions.verify(service, assertion, key, needs_jti=True, path=path)
        except AssertionRefused as error:
            raise InvalidClient(
                "a wrong assertion",
                details=str(error),
                fix=NEW_ASSERTION,
                fault=error.description,
            ) from None


def check(
    claimed: Claimed,
    client: Application,
    now: datetime,
    methods: Collection[AuthMethod] = TOKEN_METHODS,
) -> str:
    """Checks that the client is active, uses the method it is registered for, and sent its secret.

    A secret may come in the header or in the form, whichever of the two is registered, unless the
    application's method is strict: libraries differ in what they try first. An assertion is not
    verified here. Returns the id of the secret or key that was used, an empty text for a public
    client. Raises `InvalidClient` if a check fails, also for a method that is not one of
    `methods`.
    """
    with CLIENT_KNOWN:
        if client.state != "active":
            why = ": its project is deactivated" if client.state == "suspended" else ""
            details = f"The application {refusal_details.named(client)} is not active{why}."
            raise InvalidClient("the client is inactive", details=details)
    with CLIENT_METHOD:
        if claimed.method != client.auth_method and not _may_replace(claimed.method, client):
            raise _other_method(claimed.method, client.auth_method)
        _check_accepted(claimed.method, methods)
    with CLIENT_CREDENTIAL:
        credential_id = _METHODS[claimed.method](claimed, client, now)
        if credential_id is None:
            details = _about_secret(claimed, client, now)
            raise InvalidClient("wrong client secret", details=details)
    return credential_id


def _may_replace(used: AuthMethod, client: Application) -> bool:
    """Returns whether the client may use this method in place of the one it is registered for."""
    is_about_secret = {used, client.auth_method} == _BY_SECRET
    return is_about_secret and not client.is_auth_method_strict


def _check_accepted(used: AuthMethod, methods: Collection[AuthMethod]) -> None:
    """Refuses a method that this endpoint does not accept, although the client is registered for
    it."""
    if used in methods:
        return
    accepted = " or ".join(methods)
    raise InvalidClient(
        f"the endpoint does not take {used}",
        details=f"The application's method is {used}; this endpoint takes {accepted}.",
        fix=f"Call this endpoint as an application that is registered for {accepted}.",
    )


def _other_method(used: AuthMethod, registered: AuthMethod) -> InvalidClient:
    fix = f"Set the client library to {registered}: {_HOW[registered]}. Or register {used}."
    if is_strict := {used, registered} == _BY_SECRET:
        fix += " Or set strictAuthMethod to false: then both are accepted."
    return InvalidClient(
        f"the client is registered for {registered}",
        details=f"The application's method is {registered}, and {used} was used.",
        fix=fix,
        hint=f"registered for {registered}, {used} was sent" if is_strict else "",
    )


def _about_secret(claimed: Claimed, client: Application, now: datetime) -> str:
    """Returns the details of a wrong secret: the mistake, if the secret itself reveals it."""
    secret, method, old = claimed.secret or "", client.auth_method, client.old_secret
    if old is not None and opaque_tokens.matches(secret, old.hash):
        since = refusal_details.span(now - old.ends_at)
        return f"The secret was replaced by another one, and ended {since} ago."
    if opaque_tokens.matches(secret.strip(), client.secret_hash):
        return "The secret is right, but for a space or a line break at its beginning or its end."
    if opaque_tokens.matches(unquote_plus(secret), client.secret_hash):
        return "The secret is right, but it was percent-encoded once too often."
    if opaque_tokens.matches(secret.replace(" ", "+"), client.secret_hash):
        return "The secret is right, but it was not form-encoded before it went into the header."
    if secret == client.id:
        return "The client_id was sent as the secret."
    return f"{_length(claimed)[:-1]} (the application's method is {method}, and that was used)."


def _length(claimed: Claimed) -> str:
    secret = claimed.secret or ""
    length = f"it has {refusal_details.characters(secret)}" if secret else "it is empty"
    return f"The secret is wrong: {length}."


def _by_secret(claimed: Claimed, client: Application, now: datetime) -> str | None:
    return client_secrets.matching_id(client, claimed.secret or "", now)


def _public(claimed: Claimed, client: Application, now: datetime) -> str | None:
    return "" if claimed.secret is None else None


def _by_key(claimed: Claimed, client: Application, now: datetime) -> str | None:
    return claimed.assertion.kid if claimed.assertion else None


_BY_SECRET: Final = frozenset({"client_secret_basic", "client_secret_post"})
_HOW: Final[dict[AuthMethod, str]] = {
    "client_secret_basic": "client_id and client_secret go into a Basic header",
    "client_secret_post": "client_id and client_secret go into the form",
    "none": "only the client_id goes into the form, and no secret",
    "private_key_jwt": "client_assertion and client_assertion_type go into the form",
}
_METHODS: Final[dict[AuthMethod, Callable[[Claimed, Application, datetime], str | None]]] = {
    "client_secret_basic": _by_secret,
    "client_secret_post": _by_secret,
    "none": _public,
    "private_key_jwt": _by_key,
}
