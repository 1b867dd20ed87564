"""Sets up an organization together with its first administrator, in one unit."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import structs

from idp.changes import Change
from idp.foundation.errors import InvalidArgument
from idp.identity.users import creation as user_creation
from idp.identity.users import (
    email_verification,
    memberships,
    org_domains,
    organizations,
    password_acceptance,
    verified_contacts,
)
from idp.identity.users.creation import NewHuman, Paths, PreparedUser
from idp.identity.users.permissions import ORGANIZATION_ROLES
from idp.mail import messages
from idp.mail.messages import DeliveryStatus
from idp.management.call import Call
from idp.management.users.person_fields import ProfileFields, password_problems
from idp.records import Organization, Profile
from idp.schema import answers, reading
from idp.schema.answers import Answer, Details
from idp.schema.field_rules import Domain, EmailRule, Name, OneOf, Password, PhoneRule, UserName
from idp.schema.reading import Request
from idp.service import Service

_MAX_PHONE: Final = 50
_PATHS: Final = Paths(user_name="human.userName", email="human.email.email")
_ROLES: Final = [memberships.ORG_OWNER]


class SetUpOrganization(Request, frozen=True, kw_only=True):
    name: Name
    domain: Annotated[str, Domain()] = ""


class AdministratorProfile(ProfileFields, frozen=True, kw_only=True):
    first_name: Name
    last_name: Name

    def stored(self) -> Profile:
        """Returns the profile in the form in which the user record holds it."""
        return self.as_profile(self.first_name, self.last_name)


class AdministratorEmail(Request, frozen=True, kw_only=True):
    email: Annotated[str, EmailRule()]
    is_email_verified: bool = False


class AdministratorPhone(Request, frozen=True, kw_only=True):
    phone: Annotated[str, PhoneRule(_MAX_PHONE)]
    is_phone_verified: bool = False


class Administrator(Request, frozen=True, kw_only=True):
    user_name: Annotated[str, UserName()]
    profile: AdministratorProfile
    email: AdministratorEmail
    phone: AdministratorPhone | None = None
    password: Password | None = None


class SetUp(Request, frozen=True, kw_only=True):
    """An organization and its first administrator, who without roles gets ORG_OWNER."""

    org: SetUpOrganization
    human: Administrator
    roles: list[Annotated[str, OneOf(tuple(ORGANIZATION_ROLES))]] = []


class WasSetUp(Answer, frozen=True, kw_only=True):
    """`preferred_login_name` is what the administrator signs in with, and `mail` the delivery
    status of the message to them, if there is one."""

    details: Details
    org_id: str
    user_id: str
    preferred_login_name: str
    mail: DeliveryStatus = ""


class _PreparedOrganization(PreparedUser, frozen=True, kw_only=True):
    organization: Organization


async def set_up(service: Service, call: Call, document: object) -> Change[WasSetUp]:
    """Creates an organization, its administrator and their membership, as a JSON document
    describes them (`SetUp`).

    The administrator gets a code by mail if the address is not verified. Raises InvalidArgument,
    Taken, Busy.
    """
    request = await _read(service, document)
    administrator = _person(request.human)
    if request.human.password is not None:  # hashed once, because attempts may be repeated
        password = await password_acceptance.hashed(service, None, request.human.password)
        administrator = structs.replace(administrator, password=password)

    async def prepare() -> _PreparedOrganization:
        return await _prepare(service, request, administrator, call.actor)

    return (await user_creation.planned(prepare)).map(_answer)


def _answer(prepared: _PreparedOrganization) -> WasSetUp:
    return WasSetUp(
        details=answers.details(prepared.organization, prepared.organization.id),
        org_id=prepared.organization.id,
        user_id=prepared.user.id,
        preferred_login_name=(f"{prepared.user.user_name}@{prepared.organization.primary_domain}"),
        mail=messages.delivery_status(prepared.writes),
    )


async def _read(service: Service, document: object) -> SetUp:
    request, problems = reading.collect(SetUp, document)
    if request.human and request.human.password:
        administrator, name = _person(request.human), request.org.name if request.org else ""
        organization = organizations.new(service, name or "", "", service.clock.now())
        password = request.human.password
        refused_password = await user_creation.initial_password_problems(
            service, organization, administrator, password
        )
        problems += password_problems("human.password", refused_password)
    if problems:
        raise InvalidArgument(problems)
    return request


def _person(human: Administrator) -> NewHuman:
    """Returns the user that the valid fields describe, without a password."""
    profile, email, phone = human.profile, human.email, human.phone
    address, number = email and email.email, phone and phone.phone
    return NewHuman(
        user_name=human.user_name or "",
        profile=profile.stored() if profile else Profile(display_name=""),
        email=verified_contacts.email(address, "instance", is_verified=email.is_email_verified)
        if address
        else None,
        phone=verified_contacts.phone(number, "instance", is_verified=phone.is_phone_verified)
        if phone and number
        else None,
    )


async def _prepare(
    service: Service, request: SetUp, administrator: NewHuman, actor: str
) -> _PreparedOrganization:
    now, name = service.clock.now(), request.org.name
    domain = request.org.domain or await organizations.free_domain(service, name)
    organization = organizations.new(service, name, domain, now)
    taken_fields = await organizations.taken_problems(service, organization, "org")
    if not request.org.domain:  # the next attempt generates another one
        taken_fields = [each for each in taken_fields if each.field != "org.domain"]
    prepared = await user_creation.prepare(
        service, organization, administrator, actor=actor, paths=_PATHS, is_by_instance=True
    )
    roles = list(dict.fromkeys(request.roles)) or _ROLES
    membership = memberships.new(prepared.user.id, organization.id, roles, now)
    writes = org_domains.insertion(service, organization, actor, now)
    writes += memberships.insertion(service.random, membership, actor, now)
    if not request.human.email.is_email_verified:
        verification = await email_verification.begin_email(service, prepared.user, send=True)
        writes += verification.writes
    return _PreparedOrganization(
        user=prepared.user,
        writes=[*prepared.writes, *writes],
        problems=[*taken_fields, *prepared.problems],
        organization=organization,
    )
