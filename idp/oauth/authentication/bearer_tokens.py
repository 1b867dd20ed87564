"""Bearer tokens (RFC 6750): the caller of a request, and the scopes of its token."""

from __future__ import annotations

from msgspec import Struct

from idp.identity.users import personal_access_tokens as user_personal_access_tokens
from idp.identity.users.subjects import Subject
from idp.oauth.authentication import access_token_verification
from idp.oauth.errors import InsufficientScope, InvalidRequest, InvalidToken
from idp.oauth.params import Params
from idp.oauth.refusals.userinfo import TOKEN_SENT, TOKEN_USER
from idp.oauth.tokens.access_tokens import AccessToken
from idp.oauth.tokens.validity import ValidRecords
from idp.records import User
from idp.service import Service


class Bearer(Struct, frozen=True):
    """The user of a valid access token, the token's claims, and the records that it depends on."""

    subject: Subject
    token: AccessToken
    valid_records: ValidRecords
    is_pat: bool = False

    @property
    def user(self) -> User:
        """The user that the token was issued for, also where an actor sent it (RFC 8693 1.1)."""
        return self.subject.user

    @property
    def scopes(self) -> list[str]:
        """The scopes of the token."""
        return self.token.scope.split(" ")


def read(authorization: str | None, params: Params) -> str:
    """Returns the token of a request, from the header or the form field `access_token`, not both.

    Raises `InvalidToken` (without a description when there is no token at all) and
    `InvalidRequest`.
    """
    with TOKEN_SENT:
        in_form = params.get("access_token")
        if authorization is None:
            if in_form is None:
                details = "The request has no access token; the challenge names no error then"
                raise InvalidToken("", details=f"{details} (RFC 6750, 3.1).")
            return in_form
        # RFC 6750 2: a client must not use more than one method in a request.
        if in_form is not None:
            raise InvalidRequest("the token was sent by header and by form; use one of them")
        scheme, _, token = authorization.partition(" ")
        # RFC 9110 11.1: the scheme's name is case-insensitive.
        if scheme.lower() != "bearer" or not token.strip(" "):
            raise InvalidToken("the Authorization header has no Bearer token")
        return token.strip(" ")


async def authenticate(service: Service, token: str) -> Bearer:
    """Returns the user that an access token was issued for, with its claims and records.

    Raises `InvalidToken` unless the token and everything that it depends on are valid, and
    `InsufficientScope` if it is an application's own token, which has no user.
    """
    claims, valid_records = await access_token_verification.find(service, token)
    with TOKEN_USER:
        if valid_records.subject is None:
            raise InsufficientScope("the token is an application's own: it stands for no user")
    return Bearer(
        valid_records.subject,
        claims,
        valid_records,
        user_personal_access_tokens.is_pat(service, token),
    )
