"""Creating a human user for a manager of the organization (specification 4.10).

All that is wrong with the request is told at once. Then the user, the metadata, the codes, the
messages that bring them and the events are one unit of writes: all of it, or nothing.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import structs

from idp import access, requests
from idp.access import Call
from idp.answers import Answer, Details
from idp.errors import FieldProblem, InvalidArgument
from idp.identity import new_users, phone_verifications, users, verifications
from idp.identity.new_user_requests import CreateHuman, NewEmail, NewPhone
from idp.identity.new_user_requests import Organization as NamedOrganization
from idp.identity.new_users import NewHuman
from idp.identity.person_fields import password_problems
from idp.identity.verifications import Begun
from idp.records import Email, IdpLink, Organization, Password, Phone, Profile, User
from idp.service import Service


class Created(Answer, frozen=True, kw_only=True):
    """The codes are there when the caller asked for them."""

    user_id: str
    details: Details
    email_code: str = ""
    phone_code: str = ""


async def create(service: Service, call: Call, document: object) -> Created:
    """Create the user that a JSON document describes (`CreateHuman`).

    Raises InvalidArgument, PermissionDenied, NotFound (the organization), LoginNameTaken, IdTaken,
    HashingBusy.
    """
    values, problems = requests.collect(CreateHuman, document)
    organization = await _organization(service, call, values.get("organization"))
    new = _person(values)
    problems += _beyond_one_field(service, organization, new, values)
    if problems:
        raise InvalidArgument(problems)
    request = CreateHuman(**values)
    new = structs.replace(new, password=await _password(service, request))
    prepared = await new_users.prepare(service, organization, new, actor=call.actor)
    email = _begin_email(service, prepared.user, request.email)
    phone = _begin_phone(service, prepared.user, request.phone)
    await new_users.commit(service, prepared, *email.writes, *phone.writes)
    return Created(
        user_id=prepared.user.id,
        details=_details(prepared.user),
        email_code=email.code if request.email.return_code else "",
        phone_code=phone.code if request.phone and request.phone.return_code else "",
    )


async def _organization(
    service: Service, call: Call, named: NamedOrganization | None
) -> Organization:
    if named and named.org_id:
        return await access.find_organization(service, call, named.org_id)
    if named and named.org_domain:
        return await access.find_organization_by_domain(service, call, named.org_domain)
    return await access.organization(service, call)


def _person(values: dict[str, Any]) -> NewHuman:
    """The person that the readable members describe, still without a password."""
    profile, email, phone = (values.get(name) for name in ("profile", "email", "phone"))
    return NewHuman(
        id=values.get("user_id"),
        user_name=values.get("username") or (email.email if email else ""),
        profile=profile.stored() if profile else Profile(display_name=""),
        email=Email(address=email.email, is_verified=email.is_verified) if email else None,
        phone=Phone(number=phone.phone, is_verified=phone.is_verified) if phone else None,
        metadata=[
            (entry.key, base64.b64encode(entry.value).decode("ascii"))
            for entry in _readable(values, "metadata")
        ],
        idp_links=[
            IdpLink(idp_id=link.idp_id, user_id=link.user_id, user_name=link.user_name)
            for link in _readable(values, "idp_links")
        ],
    )


def _readable(values: dict[str, Any], name: str) -> list[Any]:
    return [each for each in values.get(name) or [] if each is not None]


def _beyond_one_field(
    service: Service, organization: Organization, new: NewHuman, values: dict[str, Any]
) -> Iterator[FieldProblem]:
    """What no field's own rule can tell. A member that can't be read has its problem already."""
    email, password = values.get("email"), values.get("password")
    if "username" not in values and email:
        yield from _name_problems(new.user_name)
    if email and email.send_code and email.send_code.url_template:
        yield from _template_problems(service, email.send_code.url_template)
    named = values.get("organization")
    if named and not (named.org_id or named.org_domain):
        yield FieldProblem("field.required", "organization.orgId", "or orgDomain is required")
    entries, links = values.get("metadata") or [], values.get("idp_links") or []
    yield from _doubles("metadata[{}].key", (entry and entry.key for entry in entries))
    links = (link and (link.idp_id, link.user_id) for link in links)
    yield from _doubles("idpLinks[{}].userId", links)
    if password:
        found = new_users.password_problems(service, organization, new, password.password)
        yield from password_problems("password.password", found)


def _name_problems(user_name: str) -> Iterator[FieldProblem]:
    """An address that can't be a user name needs one beside it."""
    try:
        users.check_name(user_name)
    except users.NameRefused as refused:
        yield FieldProblem(refused.slug, "username", f"is the e-mail address, which {refused}")


def _template_problems(service: Service, template: str) -> Iterator[FieldProblem]:
    try:
        verifications.check_url_template(service.config, template)
    except verifications.UrlTemplateRefused as refused:
        yield FieldProblem(refused.slug, "email.sendCode.urlTemplate", refused.message)


def _doubles(path: str, values: Iterable[object]) -> Iterator[FieldProblem]:
    seen = set()
    for n, value in enumerate(values):
        if value is not None and value in seen:
            yield FieldProblem("field.duplicate", path.format(n), "is there already")
        seen.add(value)


async def _password(service: Service, request: CreateHuman) -> Password | None:
    plain, hashed = request.password, request.hashed_password
    if plain:
        return await new_users.hashed(service, plain.password, must_change=plain.change_required)
    if hashed:
        return new_users.imported(service, hashed.hash, must_change=hashed.change_required)
    return None


def _begin_email(service: Service, user: User, email: NewEmail) -> Begun:
    if email.is_verified:
        return Begun(code="", writes=[])
    template = email.send_code.url_template if email.send_code else None
    send = email.return_code is None
    return verifications.begin_email(service, user, send=send, url_template=template)


def _begin_phone(service: Service, user: User, phone: NewPhone | None) -> Begun:
    if phone is None or phone.is_verified:
        return Begun(code="", writes=[])
    return phone_verifications.begin_phone(service, user, send=phone.return_code is None)


def _details(user: User) -> Details:
    """Of a new user, without the date of its creation (specification 2.4)."""
    return Details(
        sequence=str(user.sequence), resource_owner=user.org_id, change_date=user.changed_at
    )
