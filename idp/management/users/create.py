"""The call that creates a person: POST /v2/users/human.

All problems of the request are reported together. Then the user, the metadata, the codes, the
messages that deliver them and the events are stored in one unit.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

from msgspec import structs

from idp.cached_reads import CachedReads
from idp.changes import Change
from idp.foundation import user_names
from idp.foundation.errors import FieldProblem, InvalidArgument, NotFound
from idp.identity.users import creation as user_creation
from idp.identity.users import (
    email_verification,
    password_acceptance,
    phone_verification,
    verified_contacts,
)
from idp.identity.users.creation import NewHuman, Paths, PreparedUser
from idp.identity.users.email_verification import VerificationBegun
from idp.mail import messages
from idp.mail.messages import DeliveryStatus
from idp.management import call as management_call
from idp.management.call import Call
from idp.management.users import mail_url_templates, protected_addresses
from idp.management.users.new_user import CreateHuman, NewEmail, NewIdpLink, NewPhone
from idp.management.users.new_user import OrganizationReference as NamedOrganization
from idp.management.users.person_fields import password_problems
from idp.policies import effective
from idp.records import IdpLink, Organization, Password, Profile, User, VerifiedBy
from idp.schema import reading
from idp.schema.answers import Answer, Details
from idp.service import Service

_TEMPLATE: Final = "email.sendCode.urlTemplate"
T = TypeVar("T")


class Created(Answer, frozen=True, kw_only=True):
    """The codes are present if the caller requested them. `mail` is the delivery status of the
    messages.
    """

    user_id: str
    details: Details
    email_code: str = ""
    phone_code: str = ""
    mail: DeliveryStatus = ""


class _PreparedUser(PreparedUser, frozen=True):
    """The prepared user with the codes that the answer returns."""

    email_code: str = ""
    phone_code: str = ""


async def read_ahead(service: Service, organization: Organization) -> None:
    """Reads what decides about an initial password in this organization, for a caller with
    `CachedReads`."""
    unnamed = NewHuman(user_name="", profile=Profile(display_name=""))
    await asyncio.gather(
        effective.initial_complexity(service, organization.id),
        user_creation.password_words(service, organization, unnamed),
    )


async def create(service: Service, call: Call, document: object) -> Change[Created]:
    """Creates the user that a JSON document describes (`CreateHuman`).

    Raises InvalidArgument, PermissionDenied, NotFound (the organization), Taken, Busy.
    """
    request, problems = reading.collect(CreateHuman, document)
    organization = await _organization(service, call, request.organization, problems)
    person = _person(request, call.verified_by)
    problems += _problems_across_fields(person, request, problems)
    cached_service = (call.reads or CachedReads(service)).service
    problems += await _template_problems(cached_service, organization, request)
    problems += await _password_problems(cached_service, organization, person, request)
    if problems:
        raise _refusal(problems)
    assert organization is not None  # noqa: S101 - else it is a problem
    # After the checks, and once for all attempts: hashing is expensive.
    password = await _password(cached_service, organization.id, request)
    with_password = structs.replace(person, password=password)

    async def prepare() -> _PreparedUser:
        return await _prepare(service, call, organization, with_password, request)

    return (await user_creation.planned(prepare)).map(_answer)


def _answer(prepared: _PreparedUser) -> Created:
    return Created(
        user_id=prepared.user.id,
        details=_details(prepared.user),
        email_code=prepared.email_code,
        phone_code=prepared.phone_code,
        mail=messages.delivery_status(prepared.writes),
    )


async def _organization(
    service: Service, call: Call, reference: NamedOrganization | None, problems: list[FieldProblem]
) -> Organization | None:
    """Returns the organization of the new user: the one that the request names, or the call's.

    If the named one does not exist, a problem is added to `problems`, so that it is reported
    together with the others, and None is returned. Raises PermissionDenied.
    """
    if any(each.field.startswith("organization.") for each in problems):
        return None
    if reference is None or not (reference.org_id or reference.org_domain):
        return await management_call.organization_at_admission(service, call)
    try:
        match (reference.org_id, reference.org_domain):
            case (str(org_id), None):
                path = "organization.orgId"
                return await management_call.find_organization(service, call, org_id)
            case (None, str(domain)):
                path = "organization.orgDomain"
                return await management_call.find_organization_by_domain(service, call, domain)
    except NotFound as missing:
        problems.append(FieldProblem(missing.error_code, path, missing.message))
    return None


def _refusal(problems: list[FieldProblem]) -> InvalidArgument | NotFound:
    first, *further_problems = problems
    # A missing organization is 404 on its own; among other problems it is one of the fields.
    if first.error_code == management_call.NO_ORGANIZATION and not further_problems:
        return NotFound(first.message, error_code=first.error_code, field=first.field)
    return InvalidArgument(problems)


async def _prepare(
    service: Service,
    call: Call,
    organization: Organization,
    person: NewHuman,
    request: CreateHuman,
) -> _PreparedUser:
    name_path = "username" if request.username else "email.email"
    paths = Paths(user_name=name_path, email="email.email", id="userId")
    preparing = user_creation.prepare(
        service,
        organization,
        person,
        actor=call.actor,
        paths=paths,
        is_by_instance=call.is_by_instance,
    )
    prepared, _ = await asyncio.gather(
        preparing, _check_address(service, call, organization, person, request)
    )
    email = await _begin_email(service, prepared.user, request.email, call.verified_by)
    phone = _begin_phone(service, prepared.user, request.phone, call.verified_by)
    return _PreparedUser(
        user=prepared.user,
        writes=[*prepared.writes, *email.writes, *phone.writes],
        problems=prepared.problems,
        email_code=email.code if request.email.return_code else "",
        phone_code=phone.code if request.phone and request.phone.return_code else "",
    )


async def _check_address(
    service: Service,
    call: Call,
    organization: Organization,
    person: NewHuman,
    request: CreateHuman,
) -> None:
    # With either of these, the caller can verify the address without access to its mailbox.
    if person.email and (request.email.is_verified or request.email.return_code is not None):
        address = person.email.address
        await protected_addresses.check_address(service, call, address, organization.id, person.id)


def _person(request: CreateHuman, by: VerifiedBy) -> NewHuman:
    """Returns the person that the valid fields describe, without a password."""
    profile, email, phone = request.profile, request.email, request.phone
    address, number = email and email.email, phone and phone.phone
    return NewHuman(
        id=request.user_id,
        user_name=request.username or address or "",
        profile=profile.stored() if profile else Profile(display_name=""),
        email=verified_contacts.email(address, by, is_verified=email.is_verified)
        if address
        else None,
        phone=verified_contacts.phone(number, by, is_verified=phone.is_verified)
        if phone and number
        else None,
        address=request.address.stored() if request.address else None,
        totp_secret=request.totp_secret or None,
        metadata=[
            (entry.key, base64.b64encode(entry.value or b"").decode("ascii"))
            for entry in _without_refused(request.metadata)
        ],
        idp_links=[
            IdpLink(idp_id=link.idp_id, user_id=link.user_id, user_name=link.user_name)
            for link in _without_refused(request.idp_links)
        ],
    )


def _without_refused(values: list[T] | None) -> list[T]:
    return [each for each in values or [] if each is not None]


async def _password_problems(
    service: Service, organization: Organization | None, person: NewHuman, request: CreateHuman
) -> Iterable[FieldProblem]:
    if request.hashed_password:
        return user_creation.hash_problems(
            service, "hashedPassword.hash", request.hashed_password.hash
        )
    if request.password is None or not request.password.password:
        return ()
    password = request.password.password
    problems = await user_creation.initial_password_problems(
        service, organization, person, password
    )
    return password_problems("password.password", problems)


def _problems_across_fields(
    person: NewHuman, request: CreateHuman, problems: list[FieldProblem]
) -> Iterator[FieldProblem]:
    """Yields the problems that the rules of single fields do not find. `problems` are the problems
    that those rules found."""
    is_name_sent = request.username or any(each.field == "username" for each in problems)
    if person.user_name and not is_name_sent:
        yield from _name_problems(person.user_name)
    entries, links = request.metadata or [], request.idp_links or []
    yield from repeated_values("metadata[{}].key", (entry and entry.key for entry in entries))
    yield from repeated_values("idpLinks[{}].userId", (link and _identity(link) for link in links))


async def _template_problems(
    service: Service, organization: Organization | None, request: CreateHuman
) -> list[FieldProblem]:
    sent = request.email.send_code if request.email else None
    org_id, template = organization.id if organization else None, sent and sent.url_template
    return await mail_url_templates.problems(service, org_id, template or None, _TEMPLATE)


def _name_problems(user_name: str) -> Iterator[FieldProblem]:
    """Yields a problem if the e-mail address, which becomes the user name of a request without
    one, cannot be a user name."""
    try:
        user_names.check_name(user_name)
    except user_names.NameRefused as refused:
        yield FieldProblem(
            refused.error_code, "username", f"is the e-mail address, which {refused}"
        )


def _identity(link: NewIdpLink) -> tuple[str, str] | None:
    return (link.idp_id, link.user_id) if link.idp_id and link.user_id else None


def repeated_values(path: str, values: Iterable[object]) -> Iterator[FieldProblem]:
    """Yields a problem for each of `values` that occurs a second time; None is ignored.

    `path` is the JSON path of a value, with `{}` in place of its index.
    """
    ids = set()
    for n, value in enumerate(values):
        if value is not None and value in ids:
            yield FieldProblem("field.duplicate", path.format(n), "exists already")
        ids.add(value)


async def _password(service: Service, org_id: str | None, request: CreateHuman) -> Password | None:
    plain, hashed = request.password, request.hashed_password
    if plain:
        return await password_acceptance.hashed(
            service, org_id, plain.password, must_change=plain.change_required
        )
    if hashed:
        return user_creation.imported(service, hashed.hash, must_change=hashed.change_required)
    return None


async def _begin_email(
    service: Service, user: User, email: NewEmail, by: VerifiedBy
) -> VerificationBegun:
    if email.is_verified:
        return VerificationBegun(code="", writes=[])
    template = email.send_code.url_template if email.send_code else None
    send = email.return_code is None
    return await email_verification.begin_email(
        service, user, send=send, url_template=template, by=by
    )


def _begin_phone(
    service: Service, user: User, phone: NewPhone | None, by: VerifiedBy
) -> VerificationBegun:
    if phone is None or phone.is_verified:
        return VerificationBegun(code="", writes=[])
    send = phone.return_code is None
    return phone_verification.begin_phone(service, user, send=send, by=by)


def _details(user: User) -> Details:
    """Returns the details of a new user, which omit the date of creation."""
    return Details(
        sequence=str(user.sequence), resource_owner=user.org_id, change_date=user.changed_at
    )
