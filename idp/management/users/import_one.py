"""The call that imports one person: POST /management/v1/users/human/_import."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Final

from msgspec import structs

from idp.changes import Change
from idp.foundation.errors import FieldProblem, InvalidArgument
from idp.identity.users import creation as user_creation
from idp.identity.users import (
    email_verification,
    password_acceptance,
    phone_verification,
    reset_codes,
    verified_contacts,
)
from idp.identity.users.creation import NewHuman, Paths, PreparedUser
from idp.mail import messages
from idp.mail.messages import DeliveryStatus
from idp.management import call as management_call
from idp.management.call import Call
from idp.management.organizations.setup import (
    AdministratorEmail,
    AdministratorPhone,
    AdministratorProfile,
)
from idp.management.users import protected_addresses
from idp.management.users.create import repeated_values
from idp.management.users.new_user import OtpSecret, PasswordHash
from idp.management.users.person_fields import password_problems
from idp.records import IdpLink, Organization, Password, Profile, VerifiedBy
from idp.schema import answers, reading
from idp.schema.answers import Answer, Details
from idp.schema.field_rules import Name, NotYet, Text, UserName
from idp.schema.field_rules import Password as PasswordText
from idp.schema.reading import Request
from idp.service import Service

_PATHS: Final = Paths(user_name="userName", email="email.email")


class ImportedHash(Request, frozen=True, kw_only=True):
    """The hash of a password. `algorithm` is ignored, because the hash itself names it."""

    value: Annotated[str, PasswordHash()]
    algorithm: Annotated[str, Text()] = ""


class ImportedLink(Request, frozen=True, kw_only=True):
    config_id: Name
    external_user_id: Name
    display_name: Name


class HumanFields(Request, frozen=True, kw_only=True):
    """The base of the requests that import a person: the fields that all of them have."""

    one_of: ClassVar[tuple[tuple[str, ...], ...]] = (("password", "hashed_password"),)

    user_name: Annotated[str, UserName()]
    phone: AdministratorPhone | None = None
    password: PasswordText | None = None
    password_change_required: bool = False
    otp_code: Annotated[str, OtpSecret()] = ""
    idps: list[ImportedLink] = []

    def check(self) -> Iterator[FieldProblem]:
        links = [
            (link.config_id, link.external_user_id) if link and link.external_user_id else None
            for link in self.idps or []
        ]
        yield from repeated_values("idps[{}].externalUserId", links)

    def stored_links(self) -> list[IdpLink]:
        """Returns the person's accounts at other identity providers, in the form in which they are
        stored."""
        return [
            IdpLink(
                idp_id=link.config_id,
                user_id=link.external_user_id,
                user_name=link.display_name,
            )
            for link in self.idps or []
            if link is not None
        ]


class ImportHuman(HumanFields, frozen=True, kw_only=True):
    """A person to import. `request_passwordless_registration`, a link to register a passkey, is
    not supported. With `dry_run` nothing is stored, and the answer says what the import would do.
    """

    profile: AdministratorProfile
    email: AdministratorEmail
    hashed_password: ImportedHash | None = None
    request_passwordless_registration: Annotated[bool, NotYet("factor.unsupported")] = False
    dry_run: bool = False


class HumanImported(Answer, frozen=True, kw_only=True):
    """`mail` is the delivery status of the message to the person, if there is one. In the answer
    to a dry run, no user has the id, and no message is sent.
    """

    user_id: str
    details: Details
    mail: DeliveryStatus = ""
    dry_run: bool = False


async def import_human(service: Service, call: Call, document: object) -> Change[HumanImported]:
    """Imports the person that a JSON document describes (`ImportHuman`), with the password hash of
    another system.

    A mail is sent only if the address is not verified or there is no password. Raises
    InvalidArgument, PermissionDenied, NotFound (the organization), Taken, Busy.
    """
    organization = await management_call.organization(service, call)
    request, problems = reading.collect(ImportHuman, document)
    person = _person(request, call.verified_by)
    problems += await _password_problems(service, organization, person, request)
    if problems:
        raise InvalidArgument(problems)
    with_password = structs.replace(
        person, password=await _password(service, organization.id, request)
    )

    async def prepare() -> PreparedUser:
        return await _prepare(service, call, organization, with_password)

    planned = (await user_creation.planned(prepare)).map(
        lambda prepared: HumanImported(
            user_id=prepared.user.id,
            details=answers.details(prepared.user, prepared.user.org_id),
            mail=messages.delivery_status(prepared.writes),
            dry_run=request.dry_run,
        )
    )
    return Change(planned.answer) if request.dry_run else planned


def _person(request: ImportHuman, by: VerifiedBy) -> NewHuman:
    """Returns the person that the valid fields describe, without a password."""
    profile, email, phone = request.profile, request.email, request.phone
    return NewHuman(
        user_name=request.user_name or "",
        profile=profile.stored() if profile else Profile(display_name=""),
        email=verified_contacts.email(email.email, by, is_verified=email.is_email_verified)
        if email and email.email
        else None,
        phone=verified_contacts.phone(phone.phone, by, is_verified=phone.is_phone_verified)
        if phone and phone.phone
        else None,
        totp_secret=request.otp_code or None,
        idp_links=request.stored_links(),
    )


async def _password_problems(
    service: Service, organization: Organization, person: NewHuman, request: ImportHuman
) -> list[FieldProblem]:
    if request.hashed_password:
        encoded = request.hashed_password.value
        return user_creation.hash_problems(service, "hashedPassword.value", encoded)
    if not request.password:
        return []
    problems = await user_creation.initial_password_problems(
        service, organization, person, request.password
    )
    return password_problems("password", problems)


async def _password(service: Service, org_id: str, request: ImportHuman) -> Password | None:
    must_change = request.password_change_required
    if request.password:
        return await password_acceptance.hashed(
            service, org_id, request.password, must_change=must_change
        )
    if request.hashed_password:
        encoded = request.hashed_password.value
        return user_creation.imported(service, encoded, must_change=must_change)
    return None


async def _prepare(
    service: Service, call: Call, organization: Organization, person: NewHuman
) -> PreparedUser:
    prepared = await user_creation.prepare(
        service,
        organization,
        person,
        actor=call.actor,
        paths=_PATHS,
        is_by_instance=call.is_by_instance,
    )
    user, writes = prepared.user, list(prepared.writes)
    if user.email is not None and user.email.is_verified:
        await protected_addresses.check(service, call, user)
    # One mail at most: without a password, the one to an unverified address is an invitation, too.
    if user.email is not None and not user.email.is_verified:
        writes += (await email_verification.begin_email(service, user, send=True)).writes
    elif user.password is None:
        writes += (await reset_codes.begin(service, user, send=True)).writes
    if user.phone is not None and not user.phone.is_verified:
        writes += phone_verification.begin_phone(
            service, user, send=False, by=call.verified_by
        ).writes
    return structs.replace(prepared, writes=writes)
