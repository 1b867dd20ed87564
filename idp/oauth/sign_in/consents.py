"""The consent of users to what third-party applications may access; others need none.

Consent is stored for each user and application. Only more scopes, claims beyond the scopes, or
`prompt=consent` make the service ask again. An application that confirms its returns asks in every
sign-in that would otherwise happen without the user: a program on the user's computer may
impersonate it (RFC 8252 8.6).
"""

from __future__ import annotations

from urllib.parse import urlsplit

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.foundation import opaque_tokens
from idp.identity.sessions.lifetime import LiveSession
from idp.oauth.errors import InteractionRequired
from idp.oauth.sign_in import pending as sign_in_pending
from idp.oauth.sign_in.next_step import Ask, Fail, Proceed, SignInPage, Step
from idp.oauth.sign_in.pending import Flow
from idp.oauth.tokens import claims_request, standard_claims
from idp.records import CONSENTS, Application, AuthRequest, Consent
from idp.service import Service
from storage import Conflict, Stale, Write


async def decide(
    service: Service, client: Application, request: AuthRequest, live: LiveSession
) -> Step:
    """Returns the last step of a sign-in: `Proceed` if no consent is needed or it was given,
    otherwise to ask for it, or to fail with `prompt=none`."""
    if request.consented_user_id == live.subject.user.id:
        return Proceed(live)
    must_confirm = _must_confirm(client, request, live)
    is_given = not client.is_third_party or await _is_given(service, client, request, live)
    if is_given and not must_confirm:
        return Proceed(live)
    if "none" in request.prompt:
        description = "the user has not let the client in yet"
        if is_given:
            description = "the user has to confirm the return to the client"
        return Fail(InteractionRequired(description))
    return Ask(SignInPage.CONSENT, live=live)


def _must_confirm(client: Application, request: AuthRequest, live: LiveSession) -> bool:
    """Returns whether the user has to confirm the return to a public native client.

    Any program can know the client's id and receive at its address, and the user gave no
    credential in this sign-in.
    """
    if not client.confirms_return or (client.app_type, client.auth_method) != ("native", "none"):
        return False
    # A user who authenticated in this sign-in knows of it.
    if live.session.id == request.authenticated_session_id:
        return False
    # An https address belongs to the client by its domain (RFC 8252 7.2).
    return urlsplit(request.redirect_uri).scheme != "https"


async def _is_given(
    service: Service, client: Application, request: AuthRequest, live: LiveSession
) -> bool:
    if "consent" in request.prompt:
        return False
    consent = await _find(service, client, live)
    # A consent holds for fewer scopes, too, but not for one more.
    if consent is None or not set(request.scopes) <= set(consent.scopes):
        return False
    return claims_request.beyond_scopes(request) <= {
        *consent.claims,
        *standard_claims.names_of(consent.scopes),
    }


async def _find(service: Service, client: Application, live: LiveSession) -> Consent | None:
    """Returns the consent of this user to this application, unless one of them is new with a
    reused id."""
    consent = await service.store.get(CONSENTS, _id(client, live))
    if consent is None or _is_of_others(consent, client, live):
        return None
    return consent


def _is_of_others(consent: Consent, client: Application, live: LiveSession) -> bool:
    return consent.changed_at < max(client.created_at, live.subject.user.created_at)


def _id(client: Application, live: LiveSession) -> str:
    return opaque_tokens.digest(f"{live.subject.user.id}\n{client.id}")


async def allow(service: Service, flow: Flow, live: LiveSession) -> None:
    """Stores in the flow that the session's user agrees to the request, and for a third-party
    application also the user's consent.

    Raises `Stale` when the request was answered meanwhile, or another tab stored a consent.
    """
    done = {"consented_user_id": live.subject.user.id}
    writes: list[Write] = []
    if flow.client.is_third_party:
        writes = await _remembering(service, flow, live)
    try:
        await sign_in_pending.commit(service, flow, *writes, sign_in_pending.step(flow, done))
    except Conflict:
        raise Stale(CONSENTS.name, _id(flow.client, live)) from None


async def _remembering(service: Service, flow: Flow, live: LiveSession) -> list[Write]:
    """Returns the writes that add what the flow asks for to the stored consent."""
    user, now, random = live.subject.user, service.clock.now(), service.random
    client, scopes = flow.client, flow.request.scopes
    beyond = claims_request.beyond_scopes(flow.request)
    consent = await service.store.get(CONSENTS, _id(client, live))
    if consent is None:
        new = Consent(
            id=_id(client, live),
            user_id=user.id,
            client_id=client.id,
            scopes=sorted(scopes),
            created_at=now,
            changed_at=now,
            org_id=user.org_id,
            claims=sorted(beyond),
        )
        return events.insertion(random, CONSENTS, new, AuditEntry("consent.given", user.id, now))
    if _is_of_others(consent, client, live):
        known_scopes, known_claims = [], []
    else:
        known_scopes, known_claims = consent.scopes, consent.claims
    changes = {
        "scopes": sorted({*known_scopes, *scopes}),
        "claims": sorted({*known_claims, *beyond}),
        "changed_at": now,
    }
    return events.update(
        random, CONSENTS, consent, changes, AuditEntry("consent.given", user.id, now)
    )
