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
from idp.oauth.sign_in.next_step import Continue, Refuse, ShowPage, SignInPage, Step
from idp.oauth.sign_in.pending import PendingSignIn
from idp.oauth.tokens import claims_request, standard_claims
from idp.records import CONSENTS, Application, AuthRequest, Consent
from idp.service import Service
from storage import Conflict, Stale, Write


async def decide(
    service: Service, client: Application, request: AuthRequest, live_session: LiveSession
) -> Step:
    """Returns the last step of a sign-in: `Continue` if no consent is needed or it was given,
    otherwise to ask for it, or to fail with `prompt=none`."""
    if request.consented_user_id == live_session.subject.user.id:
        return Continue(live_session)
    must_confirm = _must_confirm(client, request, live_session)
    is_given = not client.is_third_party or await _is_given(service, client, request, live_session)
    if is_given and not must_confirm:
        return Continue(live_session)
    if "none" in request.prompt:
        description = "the user has not let the client in yet"
        if is_given:
            description = "the user has to confirm the return to the client"
        return Refuse(InteractionRequired(description))
    return ShowPage(SignInPage.CONSENT, live_session=live_session)


def _must_confirm(client: Application, request: AuthRequest, live_session: LiveSession) -> bool:
    """Returns whether the user has to confirm the return to a public native client.

    Any program can know the client's id and receive at its address, and the user gave no
    credential in this sign-in.
    """
    if not client.confirms_return or (client.app_type, client.auth_method) != ("native", "none"):
        return False
    # A user who authenticated in this sign-in knows of it.
    if live_session.session.id == request.authenticated_session_id:
        return False
    # An https address belongs to the client by its domain (RFC 8252 7.2).
    return urlsplit(request.redirect_uri).scheme != "https"


async def _is_given(
    service: Service, client: Application, request: AuthRequest, live_session: LiveSession
) -> bool:
    if "consent" in request.prompt:
        return False
    consent = await _find(service, client, live_session)
    # A consent is valid for fewer scopes, too, but not for one more.
    if consent is None or not set(request.scopes) <= set(consent.scopes):
        return False
    return claims_request.beyond_scopes(request) <= {
        *consent.claims,
        *standard_claims.names_of(consent.scopes),
    }


async def _find(
    service: Service, client: Application, live_session: LiveSession
) -> Consent | None:
    """Returns the consent of this user to this application, unless one of them is new with a
    reused id."""
    consent = await service.store.get(CONSENTS, _id(client, live_session))
    if consent is None or _is_outdated(consent, client, live_session):
        return None
    return consent


def _is_outdated(consent: Consent, client: Application, live_session: LiveSession) -> bool:
    return consent.changed_at < max(client.created_at, live_session.subject.user.created_at)


def _id(client: Application, live_session: LiveSession) -> str:
    return opaque_tokens.digest(f"{live_session.subject.user.id}\n{client.id}")


async def allow(service: Service, flow: PendingSignIn, live_session: LiveSession) -> None:
    """Stores in the flow that the session's user agrees to the request, and for a third-party
    application also the user's consent.

    Raises `Stale` when the request was answered meanwhile, or another tab stored a consent.
    """
    changes = {"consented_user_id": live_session.subject.user.id}
    writes: list[Write] = []
    if flow.client.is_third_party:
        writes = await _consent_writes(service, flow, live_session)
    try:
        await sign_in_pending.commit(service, flow, *writes, sign_in_pending.step(flow, changes))
    except Conflict:
        raise Stale(CONSENTS.name, _id(flow.client, live_session)) from None


async def _consent_writes(
    service: Service, flow: PendingSignIn, live_session: LiveSession
) -> list[Write]:
    """Returns the writes that add the scopes and claims that the flow requests to the stored
    consent."""
    user, now, random = live_session.subject.user, service.clock.now(), service.random
    client, scopes = flow.client, flow.request.scopes
    extra_claims = claims_request.beyond_scopes(flow.request)
    consent = await service.store.get(CONSENTS, _id(client, live_session))
    if consent is None:
        new = Consent(
            id=_id(client, live_session),
            user_id=user.id,
            client_id=client.id,
            scopes=sorted(scopes),
            created_at=now,
            changed_at=now,
            org_id=user.org_id,
            claims=sorted(extra_claims),
        )
        return events.insertion(random, CONSENTS, new, AuditEntry("consent.given", user.id, now))
    if _is_outdated(consent, client, live_session):
        known_scopes, known_claims = [], []
    else:
        known_scopes, known_claims = consent.scopes, consent.claims
    changes = {
        "scopes": sorted({*known_scopes, *scopes}),
        "claims": sorted({*known_claims, *extra_claims}),
        "changed_at": now,
    }
    return events.update(
        random, CONSENTS, consent, changes, AuditEntry("consent.given", user.id, now)
    )
