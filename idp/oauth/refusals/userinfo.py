"""The checks of a userinfo request."""

from __future__ import annotations

from typing import Final

from idp.oauth.refusals.check import FORM, METHOD, USER_ALLOWED, Check

TOKEN_PLACE: Final = Check(
    "token_place",
    "the token was not put into the address",
    "RFC 6750, 2.3; RFC 9700, 4.3.2",
    "Send the header Authorization: Bearer TOKEN.",
)
TOKEN_SENT: Final = Check(
    "token_sent",
    "a bearer token was sent, once",
    "RFC 6750, 2",
    "Send the header Authorization: Bearer TOKEN.",
)
TOKEN_GENUINE: Final = Check(
    "token_genuine",
    "the token is an access token of this service",
    "RFC 6750, 3.1; OpenID Connect Core, 5.3",
    "Send the access_token of the token response, whole and unchanged.",
)
TOKEN_UNEXPIRED: Final = Check(
    "token_unexpired",
    "the token has not expired",
    "RFC 6750, 3.1",
    "Get a new token: by the refresh token or by a new sign-in.",
)
TOKEN_VALID: Final = Check(
    "token_stands",
    "the token was not revoked, and all it depends on still stands",
    "RFC 6750, 3.1",
    "Get a new token by a new sign-in.",
)
TOKEN_USER: Final = Check(
    "token_user",
    "the token stands for a user",
    "OpenID Connect Core, 5.3",
    "Send the access token of a user's sign-in, or a service user's.",
)
TOKEN_SCOPE: Final = Check(
    "token_scope",
    "the token has the scope openid",
    "OpenID Connect Core, 5.3; RFC 6750, 3.1",
    "Ask for openid when the token is requested.",
)

CHECKS: Final = (
    METHOD,
    TOKEN_PLACE,
    FORM,
    TOKEN_SENT,
    TOKEN_GENUINE,
    TOKEN_UNEXPIRED,
    TOKEN_VALID,
    USER_ALLOWED,
    TOKEN_USER,
    TOKEN_SCOPE,
)
