"""The return from another identity provider: from its answer to the user who is signed in, or to
the identity that waits for an account."""

from __future__ import annotations

from idp.foundation import logs
from idp.identity.sessions.browsers import Cookie
from idp.identity.users import lookup as user_lookup
from idp.identity.users.subjects import Subject, is_active
from idp.oauth.endpoints import refusal_records
from idp.oauth.refusals import upstream as upstream_checks
from idp.oauth.sign_in import flow as sign_in_flow
from idp.oauth.sign_in import upstream_account, upstream_departure
from idp.oauth.sign_in.pending import PendingSignIn
from idp.records.connections import ProviderConnection
from idp.records.identity_links import IdentityLink
from idp.service import Service
from idp.upstream import links
from idp.upstream.attempts import Attempt
from idp.upstream.identities import Identity
from idp.upstream.oidc import answers
from idp.upstream.oidc.answers import UpstreamAnswer
from idp.upstream.refused import UpstreamRefused
from storage import Stale

_log = logs.logger(__name__)


async def continue_with_answer(
    service: Service, flow: PendingSignIn, attempt: Attempt, answer: UpstreamAnswer
) -> Cookie | None:
    """Continues a sign-in with the answer of a connection's provider to an attempt of the same
    browser.

    Returns the browser's new cookie; None if the identity waits for an account. Raises
    `UpstreamRefused`; `Stale` when something else changed the sign-in at the same moment, or the
    answer was used before.
    """
    connection = await _connection(service, flow, attempt)
    stated = await answers.stated_claims(service, connection, attempt, answer)
    identity = answers.identity_of(service, connection, attempt, stated)
    link = await links.find(service, identity)
    if link is None:
        try:
            return await upstream_account.receive(service, flow, connection, identity)
        except Stale:
            # Of several concurrent first sign-ins, one has created the user: the others continue
            # as this user.
            link = await links.find(service, identity)
            if link is None:
                raise
    return await _sign_in(service, flow, connection, identity, link)


async def refuse(service: Service, flow: PendingSignIn, refused: UpstreamRefused) -> None:
    """Stores a refusal for administrators (`idp explain`), and logs it. Raises nothing."""
    _log.info("sign-in at another provider refused", check=refused.check, cause=refused.details)
    error = upstream_checks.error_of(refused)
    await refusal_records.store_for_sign_in(service, flow.request, error)


async def _connection(
    service: Service, flow: PendingSignIn, attempt: Attempt
) -> ProviderConnection:
    connection = await upstream_departure.find(service, flow, attempt.connection_id)
    if connection is None:
        raise UpstreamRefused("connection_usable", "the connection is not offered, or not active")
    answers.check_unchanged(connection, attempt)
    return connection


async def _sign_in(
    service: Service,
    flow: PendingSignIn,
    connection: ProviderConnection,
    identity: Identity,
    link: IdentityLink,
) -> Cookie:
    subject = await linked_subject(service, connection, link)
    progress = upstream_account.federated(connection, identity, subject)
    return await sign_in_flow.continue_with(
        service, flow, progress, login_name=None, reset_id=None, sealed_identity=None
    )


async def linked_subject(
    service: Service, connection: ProviderConnection, link: IdentityLink
) -> Subject:
    """Returns the user of a link, if the user may sign in by the connection. Raises
    UpstreamRefused."""
    subject = await user_lookup.find_subject(service, link.user_id)
    if subject is None or not _may_sign_in(connection, subject):
        details = f"the user {link.user_id}, who is linked, may not sign in"
        raise UpstreamRefused("account_admitted", details)
    if not await upstream_account.is_allowed(service, subject.organization.id):
        details = f"the organization of the user {link.user_id} does not allow it"
        raise UpstreamRefused("account_admitted", details)
    return subject


def _may_sign_in(connection: ProviderConnection, subject: Subject) -> bool:
    is_of_owner = connection.org_id in (None, subject.organization.id)
    return is_of_owner and is_active(subject)
