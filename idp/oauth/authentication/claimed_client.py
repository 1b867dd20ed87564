"""The client that a request names, and its credential: read here, verified elsewhere."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final
from urllib.parse import unquote_plus

from idp.foundation.opaque_tokens import Confidential
from idp.oauth.authentication import jwt_assertions
from idp.oauth.authentication.jwt_assertions import AssertionRefused, ClientAssertion
from idp.oauth.errors import InvalidClient, InvalidRequest
from idp.oauth.params import Params
from idp.records import APP_KEYS, APPLICATIONS, AuthMethod
from storage import Key

ASSERTION_TYPE: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
NEW_ASSERTION: Final = (
    "Sign a new assertion for each request: iss and sub are the client_id, aud is the issuer, "
    "with exp, jti and the kid of a registered key."
)
_ASSERTION_FIX: Final = f"Send client_assertion_type={ASSERTION_TYPE}."
_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


class Claimed(Confidential, frozen=True):
    """The client_id and the credential that a request contains, neither of them checked yet.

    Its text does not contain their values: a secret may have been sent in place of the client_id.
    """

    method: AuthMethod
    client_id: str
    secret: str | None = None
    assertion: ClientAssertion | None = None

    @property
    def keys(self) -> list[Key]:
        """The keys, in the store, of the records that authenticate the client: of its application,
        and of the registered public key that its assertion names, if it sent one."""
        keys: list[Key] = [(APPLICATIONS, self.client_id)]
        return [*keys, (APP_KEYS, self.assertion.kid)] if self.assertion else keys


def read(authorization: str | None, params: Params) -> Claimed:
    """Returns the client_id and the credential of a request, unchecked.

    `authorization` is the header of that name. Raises `InvalidClient` if no client is named or the
    header cannot be read, and `InvalidRequest` if the request uses more than one method.
    """
    client_id, secret = params.get("client_id"), params.get("client_secret")
    if params.get("client_assertion") or params.get("client_assertion_type"):
        # RFC 6749 2.3: a client must not use more than one method in a request.
        if authorization is not None or secret is not None:
            raise InvalidRequest("the client authenticates by an assertion and by a secret")
        return _read_assertion(params, client_id)
    if authorization is not None:
        return _read_basic(authorization, client_id, secret)
    # RFC 6749 3.2.1: a public client names itself by `client_id` in the form.
    if client_id is None:
        raise InvalidClient("the request names no client")
    if secret is not None:
        return Claimed(method="client_secret_post", client_id=client_id, secret=secret)
    return Claimed(method="none", client_id=client_id)


def _read_assertion(params: Params, client_id: str | None) -> Claimed:
    """Reads private_key_jwt (OpenID Connect Core 9): the assertion names the client."""
    if params.required("client_assertion_type") != ASSERTION_TYPE:
        raise InvalidRequest("client_assertion_type is not supported", fix=_ASSERTION_FIX)
    try:
        assertion = jwt_assertions.read(params.required("client_assertion"))
    except AssertionRefused as error:
        raise InvalidClient(
            "no assertion", details=str(error), fix=NEW_ASSERTION, fault=error.description
        ) from None
    # RFC 7521 4.2: `client_id` is optional here, and must name the assertion's client.
    if client_id not in (None, assertion.claims.iss):
        raise InvalidRequest("client_id differs from the one in the assertion")
    return Claimed(method="private_key_jwt", client_id=assertion.claims.iss, assertion=assertion)


def name(authorization: str | None, assertion: str | None) -> str | None:
    """Returns the client_id in a Basic header or an assertion, or None if there is none that can
    be read."""
    try:
        if authorization is not None:
            return _read_basic(authorization, None, None).client_id
        return jwt_assertions.read(assertion).claims.iss if assertion else None
    except (InvalidClient, InvalidRequest, AssertionRefused):
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
    # Compared with its own encoding, because a decoder may accept more than one form of the same
    # text.
    if not colon or base64.b64encode(decoded) != sent:
        raise InvalidClient("the Basic header has no colon, or octets after its end")
    if client_id not in (None, claimed.client_id):
        raise InvalidRequest("client_id differs from the one in the authorization header")
    return claimed


def _unquote(text: str) -> str:
    """Decodes application/x-www-form-urlencoded (RFC 6749 2.3.1)."""
    if "%" not in text and "+" not in text:
        return text
    if _PERCENT.search(text):
        raise InvalidClient("the Basic header is not percent-encoded correctly")
    try:
        return unquote_plus(text, errors="strict")
    except UnicodeDecodeError:
        raise InvalidClient("the Basic header is not UTF-8") from None
