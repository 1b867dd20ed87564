"""Setting up an organization with its first administrator: all of it in one unit, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any, Final

from msgspec import structs

from idp import answers, events, requests
from idp.answers import Answer, Details
from idp.errors import AlreadyExists, FieldProblem, InvalidArgument
from idp.fields import Domain, Email, Name, OneOf, Password, Phone, UserName
from idp.identity import memberships, new_users, organizations, verifications
from idp.identity.new_users import NewHuman
from idp.identity.permissions import ORGANIZATION_ROLES
from idp.identity.person_fields import ProfileFields, password_problems
from idp.records import ORGANIZATIONS, Organization, Profile
from idp.records import Email as StoredEmail
from idp.records import Phone as StoredPhone
from idp.requests import Request
from idp.service import Service
from storage import Conflict

_MAX_PHONE: Final = 50
_TRIES: Final = 5  # at a generated domain
_ROLES: Final = [memberships.ORG_OWNER]


class DomainTaken(AlreadyExists):
    """An organization has this domain already."""

    slug = "organization.domain_taken"

    def __init__(self) -> None:
        super().__init__("is another organization's already", field="org.domain")


class NewOrganization(Request, frozen=True, kw_only=True):
    name: Name
    domain: Annotated[str, Domain()] = ""


class NewProfile(ProfileFields, frozen=True, kw_only=True):
    first_name: Name
    last_name: Name

    def stored(self) -> Profile:
        """The profile as a user record has it."""
        return self.as_profile(self.first_name, self.last_name)


class NewEmail(Request, frozen=True, kw_only=True):
    email: Annotated[str, Email()]
    is_email_verified: bool = False


class NewPhone(Request, frozen=True, kw_only=True):
    phone: Annotated[str, Phone(_MAX_PHONE)]
    is_phone_verified: bool = False


class Administrator(Request, frozen=True, kw_only=True):
    user_name: Annotated[str, UserName()]
    profile: NewProfile
    email: NewEmail
    phone: NewPhone | None = None
    password: Password | None = None


class SetUp(Request, frozen=True, kw_only=True):
    """Specification 4.9. Without roles the administrator gets ORG_OWNER."""

    org: NewOrganization
    human: Administrator
    roles: list[Annotated[str, OneOf(tuple(ORGANIZATION_ROLES))]] = []


class WasSetUp(Answer, frozen=True, kw_only=True):
    details: Details
    org_id: str
    user_id: str


async def set_up(service: Service, document: object, *, actor: str) -> WasSetUp:
    """Make the organization, its administrator and their membership that a JSON document
    describes (`SetUp`), and mail the administrator a code when the address is not verified.

    Raises InvalidArgument, LoginNameTaken, DomainTaken, HashingBusy.
    """
    request = _read(service, document)
    name, wanted = request.org.name, request.org.domain
    administrator = _person(structs.asdict(request.human))
    if request.human.password is not None:
        password = await new_users.hashed(service, request.human.password)
        administrator = structs.replace(administrator, password=password)
    domain = wanted or organizations.generated_domain(service, name)
    organization = organizations.new(service, name, domain, service.clock.now())
    for _ in range(1 if wanted else _TRIES):
        with suppress(DomainTaken):
            return await _commit(service, organization, administrator, request.roles, actor)
        domain = organizations.generated_domain(service, name, is_taken=True)
        organization = structs.replace(organization, primary_domain=domain)
    raise DomainTaken


def _read(service: Service, document: object) -> SetUp:
    values, problems = requests.collect(SetUp, document)
    org: NewOrganization | None = values.get("org")
    human = document.get("human") if isinstance(document, dict) else None
    problems += _problems(service, org.name if org else "", human)
    if problems:
        raise InvalidArgument(problems)
    return SetUp(**values)


def _problems(service: Service, name: str, human: object) -> list[FieldProblem]:
    """What the policy says of the password, whatever else is wrong."""
    values, _ = requests.collect(Administrator, human)
    if values.get("password") is None:
        return []
    organization = organizations.new(service, name, "", service.clock.now())
    found = new_users.password_problems(service, organization, _person(values), values["password"])
    return password_problems("human.password", found)


def _person(values: Mapping[str, Any]) -> NewHuman:
    """The person that the readable members describe, still without a password."""
    profile, email, phone = (values.get(name) for name in ("profile", "email", "phone"))
    return NewHuman(
        user_name=values.get("user_name") or "",
        profile=profile.stored() if profile else Profile(display_name=""),
        email=StoredEmail(address=email.email, is_verified=email.is_email_verified)
        if email
        else None,
        phone=StoredPhone(number=phone.phone, is_verified=phone.is_phone_verified)
        if phone
        else None,
    )


async def _commit(
    service: Service,
    organization: Organization,
    administrator: NewHuman,
    roles: list[str],
    actor: str,
) -> WasSetUp:
    random, now = service.random, organization.created_at
    prepared = await new_users.prepare(service, organization, administrator, actor=actor)
    user = prepared.user
    held = memberships.new(user.id, organization.id, list(dict.fromkeys(roles)) or _ROLES, now)
    writes = events.insertion(
        random, ORGANIZATIONS, organization, "organization.created", actor, now
    )
    writes += memberships.insertion(random, held, actor, now)
    if not administrator.email or not administrator.email.is_verified:
        writes += verifications.begin_email(service, user, send=True).writes
    try:
        await new_users.commit(service, prepared, *writes)
    except Conflict as error:
        if error.collection == ORGANIZATIONS.name:
            raise DomainTaken from error
        raise
    return WasSetUp(
        details=answers.details(organization, organization.id),
        org_id=organization.id,
        user_id=user.id,
    )
