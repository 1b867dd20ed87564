"""Device authorization (RFC 8628 3.1, 3.2): two codes for a device without a browser.

The device polls with the long code. The short one is displayed to the user, who enters it on
another device. Neither is stored: the long one is stored as a hash, the short one as a keyed
digest, as a plain hash could be found by trying all values of its length.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import Any, Final

from idp.foundation import base64url, opaque_tokens, uris
from idp.foundation.texts import typed_texts
from idp.limits.origin import AttemptOrigin
from idp.oauth import request_limits, scopes
from idp.oauth.authentication import client_authentication
from idp.oauth.authentication.client_authentication import Accepted
from idp.oauth.errors import TemporarilyUnavailable, UnauthorizedClient
from idp.oauth.params import Params
from idp.oauth.paths import DEVICE_AUTHORIZATION
from idp.oauth.refusals import device as checks
from idp.oauth.refusals.check import ONCE
from idp.oauth.refusals.token import GRANT_ALLOWED
from idp.records import DEVICE_REQUESTS, USER_CODES, Application, DeviceRequest, UserCode
from idp.service import Service
from storage import Conflict, Insert

GRANT_TYPE: Final = "urn:ietf:params:oauth:grant-type:device_code"
PAGE: Final = "/ui/device"
ALPHABET: Final = "BCDFGHJKLMNPQRSTVWXZ"  # RFC 8628 6.1: no vowels, so no words
USER_CODE_LENGTH: Final = 8
LIFETIME: Final = timedelta(minutes=5)
INTERVAL_SECONDS: Final = 5
_EXTRA_LIFETIME: Final = timedelta(hours=1)  # until then a poll is refused with the reason
_ACCEPTED: Final = Accepted(DEVICE_AUTHORIZATION)
_MAX_ATTEMPTS: Final = 5


async def begin(
    service: Service, authorization: str | None, params: Params, origin: AttemptOrigin
) -> dict[str, Any]:
    """Stores a device's request, and returns the response with its two codes (RFC 8628 3.2).

    `authorization` is the header of that name, and `origin` the network that the device is in.
    Scopes that the client cannot be given are left out. Raises `OAuthError`.
    """
    with ONCE:
        params.refuse_repeated()
    client, *_ = await client_authentication.authenticate(
        service, authorization, params, accepted=_ACCEPTED
    )
    with GRANT_ALLOWED:
        if GRANT_TYPE not in client.grant_types:
            details = f"The application may use {', '.join(client.grant_types)}; not {GRANT_TYPE}."
            raise UnauthorizedClient("the client may not use the device flow", details=details)
    with checks.DEVICE_SCOPE:
        requested = scopes.parse(params.get("scope"))
    request_limits.admit_device(service, client.id, origin)
    secret = service.random.token()
    request = _new(service, client, scopes.grantable(service.config, client, requested), secret)
    user_code = await _store(service, request)
    # Two groups of four are easier to type (RFC 8628 6.1).
    return _response(service, request.id + secret, f"{user_code[:4]}-{user_code[4:]}")


def _new(service: Service, client: Application, granted: list[str], secret: str) -> DeviceRequest:
    now = service.clock.now()
    return DeviceRequest(
        id=service.random.id(),
        client_id=client.id,
        scopes=granted,
        secret_hash=opaque_tokens.digest(secret),
        interval_seconds=INTERVAL_SECONDS,
        created_at=now,
        ends_at=now + LIFETIME,
        expires_at=now + LIFETIME + _EXTRA_LIFETIME,
    )


async def _store(service: Service, request: DeviceRequest) -> str:
    """Stores the request. Returns the characters of its user code, which no other request has."""
    # A random user code may be in use already; each attempt generates another one.
    for _ in range(_MAX_ATTEMPTS):
        user_code = service.random.characters(USER_CODE_LENGTH, ALPHABET)
        user_code_record = UserCode(
            id=_digest(service, user_code), device_id=request.id, expires_at=request.expires_at
        )
        with suppress(Conflict):
            await service.store.commit(
                Insert(DEVICE_REQUESTS, request), Insert(USER_CODES, user_code_record)
            )
            return user_code
    raise TemporarilyUnavailable


def _response(service: Service, device_code: str, user_code: str) -> dict[str, Any]:
    page = service.config.issuer + PAGE
    return {
        "device_code": device_code,
        "user_code": user_code,
        "verification_uri": page,
        "verification_uri_complete": uris.with_parameters(page, [("user_code", user_code)]),
        "expires_in": int(LIFETIME.total_seconds()),
        "interval": INTERVAL_SECONDS,
    }


def user_code_of(entered: str) -> str | None:
    """Returns the user code in a text that a user entered, in capitals and without separators.

    Returns None for a text that cannot be a user code.
    """
    user_code = typed_texts.alphanumeric(entered).upper()
    is_possible = len(user_code) == USER_CODE_LENGTH and set(user_code) <= set(ALPHABET)
    return user_code if is_possible else None


async def find(service: Service, user_code: str) -> DeviceRequest | None:
    """Returns the device's request with this user code, or None."""
    user_code_record = await service.store.get(USER_CODES, _digest(service, user_code))
    return (
        await service.store.get(DEVICE_REQUESTS, user_code_record.device_id)
        if user_code_record
        else None
    )


def _digest(service: Service, user_code: str) -> str:
    return base64url.encode(service.master_key.mac("user-code", user_code))
