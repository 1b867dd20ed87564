"""The answer of a connection's provider to an attempt: the claims that the provider states about a
person, and the identity that they describe. Nothing is stored but that the attempt is used."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple

from idp.foundation import domain_names
from idp.records import USED_VALUES
from idp.records.connections import (
    AzureSettings,
    GenericOidcSettings,
    GoogleSettings,
    ProviderConnection,
)
from idp.service import Service
from idp.upstream import attempts, identities, paths
from idp.upstream.attempts import Attempt
from idp.upstream.identities import Identity
from idp.upstream.oidc import code_exchange, id_tokens, provider
from idp.upstream.oidc.id_tokens import SKEW_SECONDS, Expected
from idp.upstream.presets.addresses import AZURE_ANY_TENANT
from idp.upstream.refused import UpstreamRefused
from storage import Conflict, Stale

_MAX_PARAMETER: Final = 8 * 1024
_MAX_ERROR: Final = 100
_SECONDS: Final = 12.0  # for all calls of the provider that one answer needs
# These name the person and the sign-in: those of the UserInfo endpoint do not replace them.
_ID_TOKEN_CLAIMS: Final = (
    "iss",
    "sub",
    "aud",
    "exp",
    "iat",
    "auth_time",
    "nonce",
    "acr",
    "amr",
    "azp",
    "oid",
    "tid",
    "hd",
)
_EMAIL_CLAIMS: Final = ("email", "email_verified", "xms_edov")


class UpstreamAnswer(NamedTuple):
    """The parameters with which a provider sends the browser back; empty texts for those that it
    did not send."""

    code: str = ""
    error: str = ""
    issuer: str = ""


class StatedClaims(NamedTuple):
    """The claims of the verified ID token, those of the UserInfo endpoint (none if it is not
    called), and `merged`, the claims that count."""

    id_token: Mapping[str, Any]
    userinfo: Mapping[str, Any]
    merged: Mapping[str, Any]


async def stated_claims(
    service: Service, connection: ProviderConnection, attempt: Attempt, answer: UpstreamAnswer
) -> StatedClaims:
    """Returns the claims for which the provider of a connection exchanges its answer to an
    attempt. Raises `UpstreamRefused`, and `Stale` if the answer was used before."""
    ends_at = asyncio.get_running_loop().time() + _SECONDS
    async with _limited(ends_at):
        answering_provider = await provider.find(service, connection)
    _check_answer(answering_provider, answer)
    await _use(service, attempt)
    async with _limited(ends_at):
        return await _claims(service, connection, answering_provider, attempt, answer.code)


def identity_of(
    service: Service, connection: ProviderConnection, attempt: Attempt, stated: StatedClaims
) -> Identity:
    """Returns the identity that the claims describe, if the connection admits it and the person
    has signed in at the provider as recently as the attempt requires. Raises UpstreamRefused."""
    _check_admitted(connection, stated.merged)
    _check_recent(service, attempt, stated.merged)
    return identities.from_claims(connection, stated.merged)


def check_unchanged(connection: ProviderConnection, attempt: Attempt) -> None:
    """Checks that the connection is as it was when the browser left. Raises UpstreamRefused."""
    if connection.stamp != attempt.stamp:
        details = "the settings of the connection were changed meanwhile"
        raise UpstreamRefused("connection_usable", details)


@asynccontextmanager
async def _limited(ends_at: float) -> AsyncIterator[None]:
    """Limits the calls of the provider within the block. Raises UpstreamRefused at the end of the
    time."""
    try:
        async with asyncio.timeout_at(ends_at):
            yield
    except TimeoutError:
        details = f"the provider did not answer within {_SECONDS:g} s"
        raise UpstreamRefused("provider_reached", details) from None


def _check_answer(answering_provider: provider.Provider, answer: UpstreamAnswer) -> None:
    if answer.issuer != answering_provider.issuer and (
        answer.issuer or answering_provider.names_issuer
    ):
        details = f"iss of the answer is {answer.issuer[:_MAX_ERROR]!r}"
        raise UpstreamRefused("answer_from_provider", details)
    if answer.error:
        details = f"the provider has answered with the error {answer.error[:_MAX_ERROR]!r}"
        raise UpstreamRefused("answer_without_error", details)
    if not answer.code or len(answer.code) > _MAX_PARAMETER:
        raise UpstreamRefused("answer_without_error", "the provider has answered without a code")


async def _use(service: Service, attempt: Attempt) -> None:
    """Marks the attempt as used. Raises Stale if it was used before: a code is redeemed once."""
    try:
        await service.store.commit(attempts.mark_used(attempt))
    except Conflict as error:
        raise Stale(USED_VALUES.name, error.field) from error


async def _claims(
    service: Service,
    connection: ProviderConnection,
    answering_provider: provider.Provider,
    attempt: Attempt,
    code: str,
) -> StatedClaims:
    """Returns the claims of the ID token, with those of the UserInfo endpoint unless there is none
    or the connection does not use it."""
    tokens = await code_exchange.redeem(
        service,
        connection,
        answering_provider,
        code=code,
        verifier=attempt.verifier,
        redirect_uri=paths.redirect_uri(service, connection.id),
    )
    access_token = tokens.get("access_token")
    expected = Expected(attempt.nonce, access_token if isinstance(access_token, str) else None)
    claims = await id_tokens.verify(
        service, connection, answering_provider, tokens.get("id_token"), expected
    )
    settings = connection.settings
    is_enough = isinstance(settings, GenericOidcSettings) and settings.uses_id_token_mapping
    if is_enough or not answering_provider.userinfo_endpoint:
        return StatedClaims(claims, {}, claims)
    userinfo = await code_exchange.userinfo(service, answering_provider, access_token)
    return StatedClaims(claims, userinfo, _merged(claims, userinfo))


def _merged(claims: Mapping[str, Any], userinfo: Mapping[str, Any]) -> Mapping[str, Any]:
    if userinfo.get("sub") != claims["sub"]:
        raise UpstreamRefused("userinfo_matches", "sub of the UserInfo endpoint is another one")
    # The verification in one is not about the address in the other.
    if "email" in claims:
        fixed = (*_ID_TOKEN_CLAIMS, *_EMAIL_CLAIMS)
        return {**claims, **{name: userinfo[name] for name in userinfo if name not in fixed}}
    token_claims = {name: claims[name] for name in claims if name not in _EMAIL_CLAIMS}
    return {
        **token_claims,
        **{name: userinfo[name] for name in userinfo if name not in _ID_TOKEN_CLAIMS},
    }


def _check_admitted(connection: ProviderConnection, claims: Mapping[str, Any]) -> None:
    settings = connection.settings
    if isinstance(settings, GoogleSettings):
        allowed_domains = [domain_names.folded(each) for each in settings.hosted_domains]
        if allowed_domains and domain_names.folded(str(claims.get("hd"))) not in allowed_domains:
            details = "the hosted domain hd is not among the allowed"
            raise UpstreamRefused("account_admitted", details)
    elif isinstance(settings, AzureSettings) and AZURE_ANY_TENANT in connection.authority:
        tenant = claims.get("tid")
        if settings.allowed_tenants and tenant not in settings.allowed_tenants:
            details = f"the tenant {str(tenant)[:_MAX_ERROR]!r} is not allowed"
            raise UpstreamRefused("account_admitted", details)


def _check_recent(service: Service, attempt: Attempt, claims: Mapping[str, Any]) -> None:
    """Checks that the person has signed in at the provider as recently as the application
    requires."""
    auth_time, now = claims.get("auth_time"), service.clock.now().timestamp()
    is_stated = isinstance(auth_time, int | float) and not isinstance(auth_time, bool)
    if is_stated and float(auth_time or 0) > now + SKEW_SECONDS:
        raise UpstreamRefused("id_token_current", "the ID token: auth_time is in the future")
    if attempt.max_age is None:
        return
    if not is_stated:
        raise UpstreamRefused("authentication_recent", "the provider does not state auth_time")
    earliest = attempt.begun_at if attempt.max_age == 0 else now - attempt.max_age
    if float(auth_time or 0) < earliest - SKEW_SECONDS:
        raise UpstreamRefused(
            "authentication_recent", "auth_time is earlier than the application allows"
        )
