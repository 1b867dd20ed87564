"""The demonstration relying party, which signs users in like any application.

It uses only what every application has: its own registration, the addresses of the discovery
document, and HTTP. Its data about a browser is one record, sealed because it holds tokens.
"""

from __future__ import annotations

import base64
from datetime import timedelta
from typing import Any, Final
from urllib.parse import quote, urlencode

import msgspec
from msgspec import structs

from idp.foundation.opaque_tokens import Confidential, digest, equal
from idp.oauth import pkce
from idp.oauth.paths import AUTHORIZE, END_SESSION
from idp.records import DEMO_VISITS, INSTANCE_ID, INSTANCES, DemoVisit, sealed_fields
from idp.service import Service
from idp.start.demo_setup import CALLBACK, PATH, client_secret
from storage import Insert, Update

SCOPE: Final = "openid profile email phone address offline_access"
_PURPOSE: Final = sealed_fields.DEMO_VISIT.purpose
_LIFETIME: Final = timedelta(hours=12)


class DemoExchange(Confidential, frozen=True):
    """One HTTP request of the demo and its response, as its page displays them."""

    kind: str
    request: str
    response: str


class DemoVisitState(Confidential, frozen=True, omit_defaults=True):
    """The demo's data about one browser: its last authorization request, what it received since,
    and the HTTP exchanges that its page displays.

    `id` is the value of the browser's cookie, of which the store has the digest.
    """

    id: str
    state: str = ""
    nonce: str = ""
    verifier: str = ""
    claims: dict[str, Any] = {}
    userinfo: dict[str, Any] = {}
    tokens: dict[str, str] = {}
    steps: list[DemoExchange] = []
    problem: str = ""


class DemoClient(Confidential, frozen=True):
    """The client id and secret of the demo's own registration."""

    client_id: str
    client_secret: str

    def basic(self) -> str:
        """Returns the value of the Authorization header for client_secret_basic (RFC 6749,
        2.3.1).
        """
        pair = f"{quote(self.client_id, safe='')}:{quote(self.client_secret, safe='')}"
        return "Basic " + base64.b64encode(pair.encode()).decode()


async def find_client(service: Service) -> DemoClient | None:
    """Returns the demo's registration; None if the start has created none."""
    instance = await service.store.get(INSTANCES, INSTANCE_ID)
    if instance is None or instance.demo is None:
        return None
    demo = instance.demo
    return DemoClient(client_id=demo.client_id, client_secret=client_secret(service, demo))


async def find_visit(service: Service, cookie: str | None) -> DemoVisitState | None:
    """Returns the stored data about the browser with this cookie; None if there is none."""
    record = await service.store.get(DEMO_VISITS, digest(cookie)) if cookie else None
    if record is None:
        return None
    return msgspec.json.decode(
        service.master_key.open(record.sealed, _PURPOSE), type=DemoVisitState
    )


async def store_visit(service: Service, visit: DemoVisitState, *, is_new: bool = False) -> None:
    """Stores the demo's data about a browser for twelve hours; `is_new` is whether nothing is
    stored about the browser yet.
    """
    sealed = service.master_key.seal(msgspec.json.encode(visit), _PURPOSE)
    expires_at = service.clock.now() + _LIFETIME
    record = DemoVisit(id=digest(visit.id), sealed=sealed, expires_at=expires_at)
    changes = {"sealed": sealed, "expires_at": expires_at}
    await service.store.commit(
        Insert(DEMO_VISITS, record) if is_new else Update(DEMO_VISITS, record.id, set=changes)
    )


def begin(
    service: Service, visit: DemoVisitState | None, client: DemoClient, prompt: str
) -> DemoVisitState:
    """Returns the demo's data about a browser with a new authorization request, which has a new
    state, nonce and PKCE verifier; the caller stores it with `store_visit`.

    `visit` is the former data, None for a new browser; `prompt` is the parameter of that name,
    empty for none.
    """
    random = service.random
    state = visit or DemoVisitState(id=random.token())
    visit_with_request = structs.replace(
        state, state=random.token(), nonce=random.token(), verifier=random.token(), problem=""
    )
    url = authorization_url(service, visit_with_request, client, prompt)
    request = f"GET {url} HTTP/1.1"
    return structs.replace(
        visit_with_request, steps=[DemoExchange("authorize", request, "303 See Other")]
    )


def authorization_url(
    service: Service, visit: DemoVisitState, client: DemoClient, prompt: str
) -> str:
    """Returns the address to which the demo redirects the browser for its authorization request
    (OpenID Connect Core 1.0, 3.1.2.1).
    """
    base = service.config.issuer
    pairs = {
        "client_id": client.client_id,
        "redirect_uri": base + CALLBACK,
        "response_type": "code",
        "scope": SCOPE,
        "state": visit.state,
        "nonce": visit.nonce,
        "code_challenge": pkce.challenge_of(visit.verifier),
        "code_challenge_method": "S256",
    }
    if prompt:
        pairs["prompt"] = prompt
    return f"{base}{AUTHORIZE}?{urlencode(pairs)}"


def logout_url(service: Service, visit: DemoVisitState) -> str:
    """Returns the address to which the demo redirects the browser to sign out (OpenID Connect
    RP-Initiated Logout 1.0, 2).
    """
    base = service.config.issuer
    pairs = {
        "id_token_hint": visit.tokens.get("id_token", ""),
        "post_logout_redirect_uri": base + PATH,
    }
    return f"{base}{END_SESSION}?{urlencode(pairs)}"


def code_form(service: Service, visit: DemoVisitState, code: str) -> dict[str, str]:
    """Returns the form of the token request that redeems an authorization code."""
    return {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": service.config.issuer + CALLBACK,
        "code_verifier": visit.verifier,
    }


def refresh_form(visit: DemoVisitState) -> dict[str, str]:
    """Returns the form of the token request with the browser's refresh token."""
    return {"grant_type": "refresh_token", "refresh_token": visit.tokens.get("refresh_token", "")}


def is_own_response(service: Service, visit: DemoVisitState, state: str, issuer: str) -> bool:
    """Returns whether an authorization response belongs to this browser's last request, by its
    `state` and `iss` (RFC 9207).
    """
    return bool(visit.state) and equal(visit.state, state) and issuer == service.config.issuer


def verified_claims(
    service: Service, client: DemoClient, id_token: str, key_set: bytes, nonce: str | None
) -> dict[str, Any]:
    """Returns the claims of an ID token after the checks of OpenID Connect Core 1.0, 3.1.3.7.

    `nonce` is that of the request; None after a refresh. Raises ValueError if the token is not the
    issuer's, not for this client, expired, or for another request.
    """
    # Imported here: only the demo and the creation of keys need it.
    from jwcrypto.common import JWException
    from jwcrypto.jwk import JWKSet
    from jwcrypto.jwt import JWT

    try:
        token = JWT(jwt=id_token, key=JWKSet.from_json(key_set.decode()), algs=["RS256"])
        claims: dict[str, Any] = msgspec.json.decode(token.claims)
    except JWException as error:
        raise ValueError("the ID token does not verify") from error
    if claims.get("iss") != service.config.issuer or claims.get("aud") != client.client_id:
        raise ValueError("the ID token is for another client")
    # A refreshed ID token should have no nonce (OpenID Connect Core 1.0, 12.2).
    if nonce is not None and claims.get("nonce") != nonce:
        raise ValueError("the ID token answers another request")
    return claims
