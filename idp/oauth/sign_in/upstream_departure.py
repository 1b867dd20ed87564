"""The redirect to another identity provider: the choice of the connection, and the address to
which the browser is sent. Nothing is stored for it: the attempt is in a cookie
(`idp.upstream.attempts`)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final, NamedTuple

from idp.foundation import base64url, uris
from idp.limits.origin import AttemptOrigin
from idp.oauth import request_limits
from idp.oauth.sign_in import page_branding
from idp.oauth.sign_in import pending as sign_in_pending
from idp.oauth.sign_in.pending import PendingSignIn
from idp.policies import page_settings
from idp.records.connections import GoogleSettings, ProviderConnection
from idp.service import Service
from idp.upstream import attempts, offers, paths
from idp.upstream.attempts import Attempt
from idp.upstream.oidc import provider
from idp.upstream.refused import UpstreamRefused

MAX_BUTTONS: Final = 4  # the other connections are behind one more button
_MAX_ADDRESS: Final = 1200  # of a flow that is not stored: the cookie has room for three attempts
_DEFAULT_SCOPES: Final = ("openid", "profile", "email")


class Departure(NamedTuple):
    """The address at the provider, and the new value of the cookie with the attempts."""

    url: str
    cookie: str


class DepartureRequest(NamedTuple):
    """A person's request for a sign-in at a provider: its origin, the cookie with the attempts as
    it was sent, the restart link and the languages of the pages, and the login name that was
    entered, if any."""

    origin: AttemptOrigin
    cookie: str | None
    start: str
    languages: str = ""
    login_name: str | None = None


async def offered(service: Service, flow: PendingSignIn) -> Sequence[ProviderConnection]:
    """Returns the connections that the pages of a sign-in offer, in their order; at most 5 s
    old."""
    org_id = page_branding.sign_in_org_id(service, flow.request, flow.client)
    return await offers.usable_cached(service, org_id)


async def are_offered_first(service: Service, flow: PendingSignIn) -> bool:
    """Returns whether the login policy puts the connections before the login name; at most 5 s
    old."""
    org_id = page_branding.sign_in_org_id(service, flow.request, flow.client)
    return (await page_settings.find(service, org_id)).login.providers_first


async def for_login_name(
    service: Service, flow: PendingSignIn, login_name: str
) -> ProviderConnection | None:
    """Returns the only connection to whose provider users with the domain of this login name are
    sent. No user is looked up, so the answer reveals nothing of accounts."""
    matching = offers.for_domain(list(await offered(service, flow)), login_name)
    return matching[0] if len(matching) == 1 else None


async def find(
    service: Service, flow: PendingSignIn, connection_id: str
) -> ProviderConnection | None:
    """Returns the connection with this id, as it is stored, if it can be used in the sign-in."""
    org_id = page_branding.sign_in_org_id(service, flow.request, flow.client)
    connections = await offers.usable(service, org_id)
    return next((each for each in connections if each.id == connection_id), None)


async def leave(
    service: Service,
    flow: PendingSignIn,
    connection_id: str,
    departure: DepartureRequest,
) -> Departure:
    """Returns the redirect to the provider of a connection.

    A sign-in that is too long for the cookie is stored. Raises `UpstreamRefused`, and
    `TooManyRequests` and `Stale` when it is stored.
    """
    connection = await find(service, flow, connection_id)
    if connection is None:
        raise UpstreamRefused("connection_usable", "the connection is not offered, or not active")
    target = await provider.find(service, connection)
    if not flow.is_stored and len(flow.address) > _MAX_ADDRESS:
        request_limits.admit_first_form(service, departure.origin)
        await sign_in_pending.commit(service, flow, sign_in_pending.step(flow, {}))
    attempt = _attempt(service, flow, connection, departure.start)
    value = attempts.cookie_with(service, departure.cookie, attempt)
    if value is None:
        raise UpstreamRefused("connection_usable", "the sign-in is too long for a cookie")
    parameters = request_parameters(service, connection, attempt) + _forwarded_parameters(
        flow, attempt, departure
    )
    return Departure(uris.with_parameters(target.authorization_endpoint, parameters), value)


def _attempt(
    service: Service, flow: PendingSignIn, connection: ProviderConnection, start: str
) -> Attempt:
    now = service.clock.now()
    ends_at = min(now + attempts.LIFETIME, sign_in_pending.end_of(flow.request))
    return Attempt(
        state=service.random.token(),
        nonce=service.random.token(),
        verifier=service.random.token(),
        connection_id=connection.id,
        stamp=connection.stamp,
        flow=flow.address,
        start=start,
        browser_id=flow.browser.id,
        begun_at=int(now.timestamp()),
        ends_at=int(ends_at.timestamp()),
        max_age=0 if "login" in flow.request.prompt else flow.request.max_age,
    )


def request_parameters(
    service: Service, connection: ProviderConnection, attempt: Attempt
) -> list[tuple[str, str]]:
    """Returns the authorization request (OpenID Connect Core 1.0 section 3.1.2.1, RFC 7636)."""
    challenge = base64url.encode(hashlib.sha256(attempt.verifier.encode()).digest())
    scopes = dict.fromkeys([*_DEFAULT_SCOPES, *connection.settings.scopes])
    parameters = [
        ("response_type", "code"),
        ("client_id", connection.settings.client_id),
        ("redirect_uri", paths.redirect_uri(service, connection.id)),
        ("scope", " ".join(scopes)),
        ("state", attempt.state),
        ("nonce", attempt.nonce),
        ("code_challenge", challenge),
        ("code_challenge_method", "S256"),
    ]
    settings = connection.settings
    if isinstance(settings, GoogleSettings) and len(settings.hosted_domains) == 1:
        parameters.append(("hd", settings.hosted_domains[0]))
    return parameters


def _forwarded_parameters(
    flow: PendingSignIn, attempt: Attempt, departure: DepartureRequest
) -> list[tuple[str, str]]:
    """Returns the parameters of the sign-in that are forwarded to the provider."""
    parameters = []
    prompts = [each for each in flow.request.prompt if each in ("login", "select_account")]
    if prompts:
        parameters.append(("prompt", " ".join(prompts)))
    if attempt.max_age is not None:
        parameters.append(("max_age", str(attempt.max_age)))
    hint = departure.login_name or flow.request.login_hint
    if hint:
        parameters.append(("login_hint", hint))
    if departure.languages:
        parameters.append(("ui_locales", departure.languages))
    return parameters
