"""Verification of access tokens that a request carries: opened first, then checked for validity.

Opening a token verifies or decrypts it, or reads one personal access token. The check then reads
the records that the token depends on, in one round trip together with other records that the
caller needs.
"""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec import Struct

from idp.credentials import last_uses
from idp.identity.users import personal_access_tokens as user_personal_access_tokens
from idp.oauth import reserved_scopes, scopes
from idp.oauth.errors import InvalidToken
from idp.oauth.refusals import details as refusal_details
from idp.oauth.refusals.userinfo import TOKEN_GENUINE, TOKEN_UNEXPIRED, TOKEN_VALID
from idp.oauth.reserved_scopes import Reserved
from idp.oauth.tokens import access_tokens, validity_details
from idp.oauth.tokens import validity as token_validity
from idp.oauth.tokens.access_tokens import AccessToken
from idp.oauth.tokens.dependencies import StampOwner, TokenDependencies, to_claims
from idp.oauth.tokens.validity import ValidRecords
from idp.records import PersonalAccessToken
from idp.service import Service
from storage.following import Records

_PAT_SCOPES = (scopes.OPENID, "profile", "email")
_PAT_RESERVED = (Reserved.ROLES, Reserved.METADATA, Reserved.RESOURCE_OWNER)


class PresentedToken(Struct, frozen=True):
    """An access token that is authentic and has not expired, but may have been revoked.

    `dependencies` names the records that have to be valid for it, see `validate`. With `is_pat` it
    is a personal access token, whose claims come from its record; `known` has the records
    that were read with it.
    """

    claims: AccessToken
    dependencies: TokenDependencies
    is_pat: bool = False
    known: Records | None = None


def is_refused(service: Service, token: str) -> bool:
    """Returns whether `read` refuses this text, as far as this is known without a read."""
    if user_personal_access_tokens.is_pat(service, token):
        return user_personal_access_tokens.is_refused(service, token)
    return access_tokens.is_refused(service, token, service.clock.now())


async def read(service: Service, token: str) -> PresentedToken:
    """Verifies or decrypts the text of an access token, and returns its claims and dependencies.

    Whether it was revoked is not checked: `validate` does that. Raises `InvalidToken` if the text
    is not an access token of this service, or the token has expired.
    """
    # A personal access token is recognised by its form: other kinds need no read here.
    if user_personal_access_tokens.is_pat(service, token):
        return await _open_pat(service, token)
    claims = await access_tokens.read(service, token)
    with TOKEN_GENUINE:
        if claims is None:
            raise _refused(refusal_details.foreign_token(service.config, token))
    with TOKEN_UNEXPIRED:
        now = service.clock.now()
        if access_tokens.is_expired(claims, now):
            since = refusal_details.span(now - datetime.fromtimestamp(claims.exp, UTC))
            raise _refused(f"The access token expired {since} ago.", claims.client_id)
    return PresentedToken(claims, claims.dependencies)


async def _open_pat(service: Service, token: str) -> PresentedToken:
    pat, known = await user_personal_access_tokens.find(service, token)
    with TOKEN_GENUINE:
        if pat is None:
            raise _refused(
                "The personal access token is unknown, has expired or was deleted.",
            )
    claims = _claims_of(service, pat)
    return PresentedToken(claims, claims.dependencies, is_pat=True, known=known)


def _claims_of(service: Service, pat: PersonalAccessToken) -> AccessToken:
    """Returns the claims that represent a personal access token.

    Its audience is the service; introspection adds the project of the application that asks.
    """
    created = int(pat.created_at.timestamp())
    reserved = [reserved_scopes.scope(service.config, kind) for kind in _PAT_RESERVED]
    return AccessToken(
        iss=service.config.issuer,
        sub=pat.user_id,
        aud=[service.config.issuer],
        exp=int(pat.expires_at.timestamp()),
        iat=created,
        nbf=created,
        jti=pat.id,
        client_id=pat.user_id,
        scope=" ".join([*_PAT_SCOPES, *reserved]),
        ref=to_claims(
            TokenDependencies(stamps=pat.stamps, user=StampOwner(pat.user_id, pat.org_id))
        ),
    )


async def validate(service: Service, presented: PresentedToken, records: Records) -> ValidRecords:
    """Returns the records that a token of `read` depends on, if all of them are valid.

    `records` has those of `validity.keys(presented.dependencies)`. Records the use of a personal
    access token. Raises `InvalidToken` if a record is missing or not valid.
    """
    valid_records = await token_validity.validate(service, presented.dependencies, records)
    if valid_records is None:
        # Only after a refusal: the details need more reads, which a valid token does not need.
        details, check, fix = await validity_details.find_reason(
            service, presented.dependencies, TOKEN_VALID
        )
        with check:
            raise _refused(details, presented.claims.client_id, fix)
    record_use(service, presented)
    return valid_records


def record_use(service: Service, presented: PresentedToken) -> None:
    """Records that a personal access token was used now.

    Other access tokens have no such record.
    """
    if presented.is_pat:
        claims = presented.claims
        last_uses.record(service, claims.jti, datetime.fromtimestamp(claims.exp, UTC))


async def find(service: Service, token: str) -> tuple[AccessToken, ValidRecords]:
    """Returns the claims of an access token and the valid records that it depends on. Raises
    `InvalidToken`."""
    presented = await read(service, token)
    records = await token_validity.read(service, presented.dependencies, presented.known)
    return presented.claims, await validate(service, presented, records)


def _refused(details: str, client_id: str | None = None, fix: str = "") -> InvalidToken:
    """Returns the error, with the same description for every reason: the response does not
    reveal the reason."""
    description = "the token is unknown, has expired or was revoked"
    return InvalidToken(description, details=details, fix=fix, client_id=client_id)
