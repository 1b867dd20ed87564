"""Setting up an organization with its first administrator: all of it in one unit, or nothing."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Final, Literal

from msgspec import structs

from idp import answers, events
from idp.answers import Answer, Details
from idp.errors import AlreadyExists, FieldProblem, InvalidArgument
from idp.fields import Domain, Email, Language, Name, OneOf, Password, Phone, Text, UserName
from idp.i18n import SOURCE, load
from idp.identity import memberships, new_users, organizations, verifications
from idp.identity.new_users import NewHuman
from idp.identity.permissions import ORGANIZATION_ROLES
from idp.records import ORGANIZATIONS, Organization, Profile
from idp.records import Email as StoredEmail
from idp.records import Phone as StoredPhone
from idp.requests import Request
from idp.service import Service
from storage import Conflict, Stale

_MAX_PHONE: Final = 50
_TRIES: Final = 5  # at a generated domain
_ROLES: Final = [memberships.ORG_OWNER]
_PASSWORD: Final = "human.password"  # noqa: S105 - a path
_GENDERS: Final[dict[str, Literal["female", "male", "diverse"]]] = {
    "GENDER_FEMALE": "female",
    "GENDER_MALE": "male",
    "GENDER_DIVERSE": "diverse",
}


class DomainTaken(AlreadyExists):
    """An organization has this domain already."""

    slug = "organization.domain_taken"

    def __init__(self) -> None:
        super().__init__("is another organization's already", field="org.domain")


class NewOrganization(Request, frozen=True, kw_only=True):
    name: Name
    domain: Annotated[str, Domain()] = ""


class NewProfile(Request, frozen=True, kw_only=True):
    first_name: Name
    last_name: Name
    nick_name: Annotated[str, Text()] = ""
    display_name: Annotated[str, Text()] = ""
    preferred_language: Annotated[str, Language()] = ""
    gender: Literal["GENDER_UNSPECIFIED", "GENDER_FEMALE", "GENDER_MALE", "GENDER_DIVERSE"] = (
        "GENDER_UNSPECIFIED"
    )

    def stored(self) -> Profile:
        """The profile as a user record has it."""
        return Profile(
            display_name=self.display_name,
            given_name=self.first_name,
            family_name=self.last_name,
            nick_name=self.nick_name or None,
            preferred_language=self.preferred_language or None,
            gender=_GENDERS.get(self.gender),
        )


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

    def stored(self) -> NewHuman:
        """The person to be, still without a password."""
        email, phone = self.email, self.phone
        return NewHuman(
            user_name=self.user_name,
            profile=self.profile.stored(),
            email=StoredEmail(address=email.email, is_verified=email.is_email_verified),
            phone=StoredPhone(number=phone.phone, is_verified=phone.is_phone_verified)
            if phone
            else None,
        )


class SetUp(Request, frozen=True, kw_only=True):
    """Specification 4.9. Without roles the administrator gets ORG_OWNER."""

    org: NewOrganization
    human: Administrator
    roles: list[Annotated[str, OneOf(tuple(ORGANIZATION_ROLES))]] = []


class WasSetUp(Answer, frozen=True, kw_only=True):
    details: Details
    org_id: str
    user_id: str


async def set_up(service: Service, request: SetUp, *, actor: str) -> WasSetUp:
    """Make the organization, its administrator and their membership, and mail the administrator
    a code when the address is not verified.

    Raises InvalidArgument (the password), LoginNameTaken, DomainTaken, HashingBusy.
    """
    name, wanted = request.org.name, request.org.domain
    domain = wanted or organizations.generated_domain(service, name)
    organization = organizations.new(service, name, domain, service.clock.now())
    administrator = await _administrator(service, organization, request.human)
    for _ in range(1 if wanted else _TRIES):
        with suppress(DomainTaken):
            return await _commit(service, organization, administrator, request.roles, actor)
        domain = organizations.generated_domain(service, name, is_taken=True)
        organization = structs.replace(organization, primary_domain=domain)
    raise DomainTaken


async def _administrator(
    service: Service, organization: Organization, human: Administrator
) -> NewHuman:
    new = human.stored()
    if human.password is None:
        return new
    problems = new_users.password_problems(service, organization, new, human.password)
    if problems:
        texts = [(each.slug, load(SOURCE).text(each.text)) for each in problems]
        raise InvalidArgument([FieldProblem(slug, _PASSWORD, text) for slug, text in texts])
    return structs.replace(new, password=await new_users.hashed(service, human.password))


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
    writes += prepared.writes + memberships.insertion(random, held, actor, now)
    if not administrator.email or not administrator.email.is_verified:
        writes += verifications.begin_email(service, user, send=True).writes
    try:
        await service.store.commit(*writes)
    except (Conflict, Stale) as error:
        if error.collection == ORGANIZATIONS.name:
            raise DomainTaken from error
        raise new_users.refusal(error) or error from error
    return WasSetUp(
        details=answers.details(organization, organization.id),
        org_id=organization.id,
        user_id=user.id,
    )
