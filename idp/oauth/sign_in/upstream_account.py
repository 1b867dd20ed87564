"""The account of a person from another identity provider who is linked to no user yet: it is
created, or the person signs in to the one they have, which is then linked.

The identity waits, encrypted, in the request of the sign-in, so it belongs to one browser. The
options of the connection are read again at each step.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from idp.foundation.i18n import Message, message
from idp.identity import authentication_context
from idp.identity.sessions.browsers import Cookie
from idp.identity.sessions.lifetime import LiveSession
from idp.identity.users import creation as user_creation
from idp.identity.users import lookup as user_lookup
from idp.identity.users import registration
from idp.identity.users.creation import NewHuman, PreparedUser, is_name_conflict
from idp.identity.users.registration import RegistrationProblem
from idp.identity.users.subjects import Subject
from idp.mail.templates import connections as connection_messages
from idp.oauth.sign_in import authentication_progress, page_branding, upstream_departure
from idp.oauth.sign_in import flow as sign_in_flow
from idp.oauth.sign_in import pending as sign_in_pending
from idp.oauth.sign_in.authentication_progress import AuthenticationProgress
from idp.oauth.sign_in.pending import PendingSignIn
from idp.policies import page_settings
from idp.records import INSTANCE_ID, INSTANCES, ORGANIZATIONS, Email, Organization, Profile
from idp.records.connections import ProviderConnection
from idp.records.identity_links import IDENTITY_LINKS
from idp.records.users import VerifiedBy
from idp.schema.field_rules import FieldRefused, Text
from idp.service import Service
from idp.upstream import identities, links
from idp.upstream.identities import Identity
from idp.usage import counts
from storage import Conflict, Stale

_MISSING: Final = {
    "givenName": message("Enter your given name.", context="register"),
    "familyName": message("Enter your family name.", context="register"),
}
_UNUSABLE: Final = message("Remove the characters that can't be used.", context="register")
_TAKEN: Final = message("This username is taken. Choose another one.", context="idp-account")
_KNOWN: Final = message(
    "An account with your email address exists. Sign in to it instead.", context="idp-account"
)


class NotPossible(Exception):
    """The account can't be linked; the text says why, for the page."""

    def __init__(self, text: Message) -> None:
        super().__init__()
        self.text = text


class WaitingIdentity(NamedTuple):
    """An identity that waits in a sign-in, its connection, and the organization in which a user
    may be created for it, if any."""

    identity: Identity
    connection: ProviderConnection
    organization: Organization | None

    @property
    def id(self) -> str:
        """The id by which a page's form names the identity that the page shows."""
        return links.id_of(self.identity)


class NewNames(NamedTuple):
    """The names of a new user, as the person has entered them."""

    user_name: str
    given_name: str
    family_name: str


async def receive(
    service: Service, flow: PendingSignIn, connection: ProviderConnection, identity: Identity
) -> Cookie | None:
    """Continues a sign-in with an identity that is linked to no user: creates the user immediately
    if the connection allows it and the names suffice; otherwise the identity waits for an account.

    Returns the browser's new cookie; None if the identity waits. Raises `Stale`.
    """
    if connection.options.is_auto_creation:
        org_id = page_branding.sign_in_org_id(service, flow.request, flow.client)
        waiting = await with_organization(service, connection, identity, org_id)
        try:
            automatic = await automatic_user(service, waiting)
            if automatic is not None:
                return await _store(service, flow, waiting, automatic)
        except CreationRefused:  # the person chooses on the page
            if await links.find(service, identity) is not None:
                raise Stale(IDENTITY_LINKS.name, flow.request.id) from None
    # The user who links the identity authenticates after it was received, not before.
    await sign_in_flow.update_request(
        service,
        flow,
        sealed_identity=identities.sealed(service, identity),
        login_name=None,
        session_id=None,
        authenticated_session_id=None,
        reset_id=None,
        registration_id=None,
        **authentication_progress.NOTHING,
    )
    return None


async def find(service: Service, flow: PendingSignIn) -> WaitingIdentity | None:
    """Returns the identity that waits in a sign-in; None if there is none, or if its connection
    can no longer be used."""
    identity = identities.opened(service, flow.request.sealed_identity)
    if identity is None:
        return None
    connection = await upstream_departure.find(service, flow, identity.connection_id)
    if connection is None or connection.stamp != identity.stamp:
        return None
    org_id = page_branding.sign_in_org_id(service, flow.request, flow.client)
    return await with_organization(service, connection, identity, org_id)


async def with_organization(
    service: Service, connection: ProviderConnection, identity: Identity, org_id: str
) -> WaitingIdentity:
    """Returns an identity that is linked to no user, with the organization in which a user may be
    created for it in a sign-in to the organization `org_id`."""
    organization = None
    if connection.options.is_creation_allowed:
        organization = await _organization(service, connection, org_id)
    return WaitingIdentity(identity, connection, organization)


async def _organization(
    service: Service, connection: ProviderConnection, org_id: str
) -> Organization | None:
    """Returns the organization of a new user: that of the connection, or the one that is signed in
    to if its policy lets people register."""
    if connection.org_id is not None:
        org_id = connection.org_id
    elif not (await page_settings.find(service, org_id)).login.allow_register:
        return None
    organization = await service.store.get(ORGANIZATIONS, org_id)
    is_active = organization is not None and organization.state == "active"
    return organization if is_active else None


class CreationRefused(Exception):
    """A user can't be created with these names; `problems` are those of the form's fields."""

    def __init__(self, problems: list[RegistrationProblem]) -> None:
        super().__init__()
        self.problems = problems


async def automatic_user(service: Service, waiting: WaitingIdentity) -> PreparedUser | None:
    """Returns the user that a sign-in creates without a page, with the writes that store it; None
    if the connection allows only what a page asks for.

    Raises CreationRefused if the names that the provider states do not suffice.
    """
    identity, organization = waiting.identity, waiting.organization
    if organization is None or not waiting.connection.options.is_auto_creation:
        return None
    names = NewNames(identity.user_name, identity.given_name, identity.family_name)
    return await _prepare(service, organization, waiting, names)


async def create(
    service: Service, flow: PendingSignIn, waiting: WaitingIdentity, names: NewNames
) -> Cookie:
    """Creates the user of an identity that waits, with these names, and continues the sign-in, in
    one unit.

    Returns the browser's new cookie. Raises `CreationRefused` and `Stale`.
    """
    if waiting.organization is None:
        raise Stale(ORGANIZATIONS.name, flow.client.org_id)
    prepared_user = await _prepare(service, waiting.organization, waiting, names)
    return await _store(service, flow, waiting, prepared_user)


def _problems(identity: Identity, names: NewNames) -> list[RegistrationProblem]:
    """Returns why a user of this identity can't have these names."""
    problems = []
    for field, value in (("givenName", names.given_name), ("familyName", names.family_name)):
        try:
            Text(1).read(value)
        except FieldRefused:
            problems.append(RegistrationProblem(field, _UNUSABLE if value else _MISSING[field]))
    # An address that the provider has not verified may be another person's.
    own_address = identity.email if identity.is_email_trusted else ""
    return problems + registration.name_problems(names.user_name, own_address)


async def _store(
    service: Service, flow: PendingSignIn, waiting: WaitingIdentity, prepared_user: PreparedUser
) -> Cookie:
    identity, organization = waiting.identity, waiting.organization
    instance = await service.store.get(INSTANCES, INSTANCE_ID)
    if organization is None or instance is None:
        raise Stale(ORGANIZATIONS.name, flow.client.org_id)
    try:
        await links.prepare(service, waiting.connection)
        subject = Subject(instance=instance, organization=organization, user=prepared_user.user)
        link_writes = links.insertion(service, waiting.connection, identity, prepared_user.user)
        cookie = await sign_in_flow.continue_with(
            service,
            flow,
            federated(waiting.connection, identity, subject),
            *prepared_user.writes,
            *link_writes,
            login_name=None,
            reset_id=None,
            sealed_identity=None,
        )
        counts.count(service, "registration", organization.id)
        return cookie
    except (Conflict, Stale) as error:
        if is_name_conflict(error):
            raise CreationRefused([RegistrationProblem("userName", _TAKEN)]) from None
        # The identity was linked, or the connection changed, at the same moment.
        raise Stale(error.collection, flow.request.id) from error


async def _prepare(
    service: Service, organization: Organization, waiting: WaitingIdentity, names: NewNames
) -> PreparedUser:
    """Returns the new user with the writes that store it. Raises CreationRefused.

    That a user has the address already is revealed only where the provider has verified it, and
    so to its owner alone. Another address is stored unverified: it is no login name.
    """
    problems = _problems(waiting.identity, names)
    if problems:
        raise CreationRefused(problems)
    user_id, identity = service.random.id(), waiting.identity
    if identity.is_email_trusted and await registration.is_known(
        service, organization, identity.email
    ):
        raise CreationRefused([RegistrationProblem(None, _KNOWN)])
    new = _human(user_id, identity, names, _email(waiting))
    prepared_user = await user_creation.prepare(service, organization, new, actor=user_id)
    if prepared_user.problems:
        raise CreationRefused([RegistrationProblem("userName", _TAKEN)])
    return prepared_user


def _email(waiting: WaitingIdentity) -> Email | None:
    identity, is_of_installation = waiting.identity, waiting.connection.org_id is None
    if not identity.email:
        return None
    if not identity.is_email_trusted:
        return Email(address=identity.email)
    stated_by: VerifiedBy = "instance" if is_of_installation else "organization"
    return Email(address=identity.email, is_verified=True, verified_by=stated_by)


def _human(user_id: str, identity: Identity, names: NewNames, email: Email | None) -> NewHuman:
    profile = Profile(
        display_name=identity.display_name,
        given_name=names.given_name,
        family_name=names.family_name,
        nick_name=identity.nick_name or None,
        preferred_language=identity.preferred_language or None,
    )
    return NewHuman(
        id=user_id,
        user_name=names.user_name,
        profile=user_creation.with_display_name(profile),
        email=email,
    )


async def link(
    service: Service, flow: PendingSignIn, live_session: LiveSession, waiting: WaitingIdentity
) -> None:
    """Links an identity that waits to the user who has signed in to the account in this sign-in,
    with a message to the user.

    Raises `NotPossible`; `Stale` when something else happened at the same moment.
    """
    user, connection = live_session.subject.user, waiting.connection
    is_authenticated = live_session.session.id == flow.request.authenticated_session_id
    if not is_authenticated or not connection.options.is_linking_allowed:
        raise Stale(ORGANIZATIONS.name, user.org_id)
    if connection.org_id not in (None, user.org_id):
        raise NotPossible(
            message("This account belongs to another organization.", context="idp-link")
        )
    if not await is_allowed(service, user.org_id):
        raise NotPossible(
            message(
                "The organization of this account doesn't allow sign-in with other providers.",
                context="idp-link",
            )
        )
    if not await links.has_room(service, user):
        raise NotPossible(message("This account has too many links already.", context="idp-link"))
    step = sign_in_pending.step(
        flow,
        {"sealed_identity": None},
        {"completed_at": None, "sealed_identity": flow.request.sealed_identity},
    )
    messages = connection_messages.linked(service, user)
    link_writes = links.insertion(service, connection, waiting.identity, user)
    user_guard = user_lookup.exists_guard(user)
    await links.prepare(service, connection)
    try:
        await sign_in_pending.commit(service, flow, user_guard, *link_writes, *messages, step)
    except Conflict as error:  # the identity was linked at the same moment
        raise Stale(error.collection, flow.request.id) from error
    await links.confirm(service, links.sign_in_connection(connection, waiting.identity), user.id)


async def is_allowed(service: Service, org_id: str) -> bool:
    """Returns whether an organization lets its users sign in with other providers, whatever
    application they sign in to."""
    settings = await page_settings.find(service, org_id)
    return settings.login.allow_external_idp


async def forget(service: Service, flow: PendingSignIn) -> None:
    """Removes the identity that waits in a sign-in, which then continues without it. Raises
    `Stale`."""
    await sign_in_flow.update_request(service, flow, sealed_identity=None)


def federated(
    connection: ProviderConnection, identity: Identity, subject: Subject
) -> AuthenticationProgress:
    """Returns the progress of a sign-in whose user the provider of a connection has
    authenticated."""
    return AuthenticationProgress(
        subject,
        (authentication_context.AMR_FEDERATED,),
        connection=links.sign_in_connection(connection, identity),
    )
