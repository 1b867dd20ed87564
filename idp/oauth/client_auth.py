"""Who is the client? The methods of RFC 6749 2.3 and OpenID Connect Core 9.

A client uses the one method it is registered for, and only one at a time. Which part of a
failed authentication was wrong stays with the administrator: in the log, and in the story.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Collection
from typing import Final
from urllib.parse import unquote_plus

from idp import credentials
from idp.credentials import Confidential
from idp.oauth import stories
from idp.oauth.checks.token import CLIENT_KNOWN, CLIENT_METHOD, CLIENT_SECRET
from idp.oauth.errors import InvalidClient, InvalidRequest
from idp.oauth.params import Params
from idp.records import APPLICATIONS, Application, AuthMethod
from idp.service import Service

TOKEN_METHODS: Final[tuple[AuthMethod, ...]] = (
    "client_secret_basic",
    "client_secret_post",
    "none",
)


class Claimed(Confidential, frozen=True):
    """What the request says about its client, not yet checked: either part may be a secret."""

    method: AuthMethod
    client_id: str
    secret: str | None = None


def read(authorization: str | None, params: Params) -> Claimed:
    """The client that the request claims to come from.

    `authorization` is the header of that name. Raises InvalidClient when no client is named or
    the header can't be read, InvalidRequest when there is more than one mechanism.
    """
    client_id, secret = params.get("client_id"), params.get("client_secret")
    if params.get("client_assertion") or params.get("client_assertion_type"):
        if authorization is not None or secret is not None:
            raise InvalidRequest("the client authenticates by an assertion and by a secret")
        raise InvalidClient("private_key_jwt is not accepted")
    if authorization is not None:
        return _read_basic(authorization, client_id, secret)
    if client_id is None:
        raise InvalidClient("the request names no client")
    if secret is not None:
        return Claimed(method="client_secret_post", client_id=client_id, secret=secret)
    return Claimed(method="none", client_id=client_id)


def name_in_header(authorization: str | None) -> str | None:
    """The client_id in a Basic header, if there is one that can be read."""
    if authorization is None:
        return None
    try:
        return _read_basic(authorization, None, None).client_id
    except (InvalidClient, InvalidRequest):
        return None


def _read_basic(authorization: str, client_id: str | None, secret: str | None) -> Claimed:
    if secret is not None:
        raise InvalidRequest("the client authenticates by header and by form; use one of them")
    scheme, _, encoded = authorization.partition(" ")
    if scheme.lower() != "basic":
        raise InvalidClient("the authorization header is not Basic")
    try:
        sent = encoded.strip(" ").encode("ascii")
        decoded = base64.b64decode(sent, validate=True)
        name, colon, password = decoded.decode("utf-8").partition(":")
    except (UnicodeError, binascii.Error):
        raise InvalidClient("the Basic header is not base64 of UTF-8") from None
    claimed = Claimed(
        method="client_secret_basic", client_id=_unquote(name), secret=_unquote(password)
    )
    if not colon or base64.b64encode(decoded) != sent:
        raise InvalidClient("the Basic header has no colon, or octets after its end")
    if client_id not in (None, claimed.client_id):
        raise InvalidRequest("client_id differs from the one in the authorization header")
    return claimed


_ID_CHARACTERS: Final = 200
_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


def _unquote(text: str) -> str:
    """Undo application/x-www-form-urlencoded (RFC 6749 2.3.1)."""
    if _PERCENT.search(text):
        raise InvalidClient("the Basic header is not percent-encoded correctly")
    try:
        return unquote_plus(text, errors="strict")
    except UnicodeDecodeError:
        raise InvalidClient("the Basic header is not UTF-8") from None


async def unknown(service: Service, claimed: Claimed) -> InvalidClient:
    """The refusal of a client_id that no application has: often its secret is in its place."""
    secret = claimed.secret or ""
    if 0 < len(secret) <= _ID_CHARACTERS and await service.store.get(APPLICATIONS, secret):
        return InvalidClient(
            "no such client",
            story="client_id and secret are swapped: the secret that was sent is a client_id.",
            fix="Swap them. Whoever logs requests may have the secret: better generate another.",
        )
    story = stories.no_client(service.config, claimed.client_id)
    return InvalidClient("no such client", story=story)


def check(
    claimed: Claimed, client: Application, methods: Collection[AuthMethod] = TOKEN_METHODS
) -> Application:
    """The client, when the claim is true. Raises InvalidClient."""
    with CLIENT_KNOWN:
        if client.state != "active":
            story = f"The application {stories.named(client)} is not active."
            raise InvalidClient("the client is inactive", story=story)
    with CLIENT_METHOD:
        if claimed.method != client.auth_method or claimed.method not in methods:
            raise _other_method(claimed.method, client.auth_method)
    with CLIENT_SECRET:
        if not _PROOFS[claimed.method](claimed, client):
            raise InvalidClient("wrong client secret", story=_about_secret(claimed, client))
    return client


def _other_method(used: AuthMethod, registered: AuthMethod) -> InvalidClient:
    return InvalidClient(
        f"the client is registered for {registered}",
        story=f"The application's method is {registered}, and {used} was used.",
        fix=f"Set the client library to {registered}: {_HOW[registered]}. Or register {used}.",
    )


def _about_secret(claimed: Claimed, client: Application) -> str:
    """What is wrong with a secret, where it can be told from the secret alone."""
    secret, method = claimed.secret or "", client.auth_method
    if credentials.matches(secret.strip(), client.secret_hash):
        return "The secret is right, but for a space or a line break at its beginning or its end."
    if credentials.matches(unquote_plus(secret), client.secret_hash):
        return "The secret is right, but it was percent-encoded once too often."
    if credentials.matches(secret.replace(" ", "+"), client.secret_hash):
        return "The secret is right, but it was not form-encoded before it went into the header."
    if secret == client.id:
        return "The client_id was sent as the secret."
    length = f"it has {stories.characters(secret)}" if secret else "it is empty"
    return (
        f"The secret is wrong: {length} (the application's method is {method}, and that was used)."
    )


def _by_secret(claimed: Claimed, client: Application) -> bool:
    return credentials.matches(claimed.secret or "", client.secret_hash)


def _public(claimed: Claimed, client: Application) -> bool:
    return claimed.secret is None


_HOW: Final[dict[AuthMethod, str]] = {
    "client_secret_basic": "client_id and client_secret go into a Basic header",
    "client_secret_post": "client_id and client_secret go into the form",
    "none": "only the client_id goes into the form, and no secret",
}
_PROOFS: Final[dict[AuthMethod, Callable[[Claimed, Application], bool]]] = {
    "client_secret_basic": _by_secret,
    "client_secret_post": _by_secret,
    "none": _public,
}
