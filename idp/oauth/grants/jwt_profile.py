"""The JWT profile grant (RFC 7523 2.1): tokens for an assertion that a service user signed.

The assertion authenticates the caller; there is no client authentication.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from idp.credentials import last_uses
from idp.identity.users import lookup as user_lookup
from idp.identity.users import subjects
from idp.oauth.authentication import jwt_assertions
from idp.oauth.authentication.client_authentication import Authenticated
from idp.oauth.authentication.jwt_assertions import AssertionRefused
from idp.oauth.errors import InvalidGrant, InvalidRequest
from idp.oauth.grants import service_tokens
from idp.oauth.grants.token_request import Grant, TokenRequest
from idp.oauth.params import Params
from idp.oauth.refusals import token as checks
from idp.records import USER_KEYS, USERS, User
from idp.service import Service
from storage import Follow, Key


async def authenticate(
    service: Service,
    authorization: str | None,
    params: Params,
    other_keys: Sequence[Key],
    *,
    follow: Sequence[Follow] = (),
) -> Authenticated[User]:
    """Returns the service user that signed the assertion, and the records with `other_keys`.
    No records that they refer to are read: the assertion is verified only afterwards.

    All are read in one round trip. Raises `InvalidGrant` and `InvalidRequest`, the latter also if
    the request authenticates a client by `authorization` (the header) or by parameters.
    """
    with checks.ASSERTION_ALONE:
        # Credentials that are not checked would seem to be accepted, so they are refused.
        if authorization or params.get("client_secret") or params.get("client_assertion"):
            raise InvalidRequest("this grant takes the assertion, and no client authentication")
    with checks.ASSERTION_SENT:
        sent = params.required("assertion")
    with checks.ASSERTION_VALID:
        try:
            assertion = jwt_assertions.read(sent)
            keys: list[Key] = [(USERS, assertion.claims.iss), (USER_KEYS, assertion.kid)]
            records = await service.store.get_records([*keys, *other_keys])
            user, key = (records.of(*each) for each in keys)
            # `jti` is optional for this use of an assertion (RFC 7523 3).
            await jwt_assertions.verify(service, assertion, key, needs_jti=False)
        except AssertionRefused as error:
            raise InvalidGrant(error.description, details=str(error)) from None
        if user is None or user.kind != "machine":
            raise InvalidGrant(
                "the assertion is not valid", details="Its issuer is no service user."
            )
    last_uses.record(service, key.id, key.expires_at)
    return Authenticated(user, records, is_fresh=False)


async def respond(request: TokenRequest) -> dict[str, Any]:
    """Returns the token response for the service user, with an ID token if `openid` is requested.

    Raises `InvalidScope`, and `InvalidGrant` when the user or its organization is not active.
    """
    service, caller = request.service, request.caller
    with checks.SCOPE_KNOWN:
        requested = service_tokens.scopes_of(service, request.params)
    subject = await user_lookup.subject_of(service, caller) if isinstance(caller, User) else None
    with checks.GRANT_VALID:
        if subject is None or not subjects.is_active(subject):
            raise InvalidGrant("the service user or its organization is not active")
    return await service_tokens.for_user(service, subject, requested, with_id_token=True)


GRANT: Final = Grant(respond=respond, checks=checks.JWT_PROFILE_CHECKS, authenticates=authenticate)
