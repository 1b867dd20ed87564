"""Calls that read a user, and the structs of their answers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from msgspec import Struct, structs

from idp.foundation.errors import NotFound
from idp.identity.guesses import lock_ends
from idp.identity.users import lookup as user_lookup
from idp.identity.users import verified_contacts
from idp.management.call import Call
from idp.records import ORGANIZATIONS, USERS, Email, Organization, Phone, Profile, User
from idp.schema import answers
from idp.schema.answers import Answer, Details
from idp.service import Service

_TOKEN_TYPES: Final[Mapping[str, str]] = {"opaque": "", "jwt": "ACCESS_TOKEN_TYPE_JWT"}
STATES: Final[Mapping[str, str]] = {
    "active": "USER_STATE_ACTIVE",
    "inactive": "USER_STATE_INACTIVE",
    "locked": "USER_STATE_LOCKED",
}


class HumanProfile(Answer, frozen=True, kw_only=True):
    given_name: str = ""
    family_name: str = ""
    nick_name: str = ""
    display_name: str = ""
    preferred_language: str = ""
    gender: str = ""
    middle_name: str = ""
    profile: str = ""
    picture: str = ""
    website: str = ""
    birthdate: str = ""
    zoneinfo: str = ""


class HumanEmail(Answer, frozen=True, kw_only=True):
    """`verified_by` is `organization`, `mailbox`, `domain` or `instance`."""

    email: str
    is_verified: bool = False
    verified_by: str = ""


class HumanPhone(Answer, frozen=True, kw_only=True):
    """`verified_by` is `organization`, `mailbox` (a code that was sent) or `instance`."""

    phone: str
    is_verified: bool = False
    verified_by: str = ""


class HumanAddress(Answer, frozen=True, kw_only=True):
    formatted: str = ""
    street_address: str = ""
    locality: str = ""
    region: str = ""
    postal_code: str = ""
    country: str = ""


class Human(Answer, frozen=True, kw_only=True):
    profile: HumanProfile
    email: HumanEmail | None = None
    phone: HumanPhone | None = None
    address: HumanAddress | None = None
    password_change_required: bool = False
    password_changed: datetime | None = None


class Machine(Answer, frozen=True, kw_only=True):
    name: str
    description: str = ""
    access_token_type: str = ""
    has_secret: bool = False


class UserAnswer(Answer, frozen=True, kw_only=True):
    """A user. Either `human` or `machine` is present."""

    user_id: str
    details: Details
    state: str
    username: str
    login_names: list[str]
    preferred_login_name: str
    human: Human | None = None
    machine: Machine | None = None


class FoundUser(Answer, frozen=True, kw_only=True):
    details: Details
    user: UserAnswer


async def find(service: Service, call: Call, user_id: str) -> User:
    """Returns the user with this id, if the call may act on their account.

    Raises NotFound, also if the call may not.
    """
    user = await service.store.get(USERS, user_id)
    if user is None or not (call.is_about_caller(user.id) or call.reaches(user.org_id)):
        raise NotFound("there is no such user", error_code="user.not_found")
    return await lock_ends.lift_if_over(service, user)


async def read(service: Service, call: Call, user_id: str) -> FoundUser:
    """Returns the user with this id, with their current state. Raises NotFound."""
    user = await find(service, call, user_id)
    organization = await service.store.get(ORGANIZATIONS, user.org_id)
    if organization is None:
        raise NotFound("there is no such user", error_code="user.not_found")
    details = answers.details(user, user.org_id)
    return FoundUser(details=details, user=await _answer(service, organization, user))


async def _answer(service: Service, organization: Organization, user: User) -> UserAnswer:
    user_view = answer(organization, user)
    if user.email and user.email_key:
        holder = await user_lookup.find_by_login_name(service, user.email.address, user.org_id)
        if holder and holder.id == user.id:  # no other user holds the same address
            names = [*user_view.login_names, user.email.address]
            return structs.replace(user_view, login_names=list(dict.fromkeys(names)))
    return user_view


def answer(organization: Organization, user: User) -> UserAnswer:
    """Returns a user in the form in which the API returns it.

    The login names omit the e-mail address: whether it is one depends on other users, too.
    """
    preferred = f"{user.user_name}@{organization.primary_domain}"
    is_human = user.kind == "human"
    return UserAnswer(
        user_id=user.id,
        details=answers.details(user, user.org_id),
        state=STATES[user.state],
        username=user.user_name,
        login_names=list(dict.fromkeys([preferred, user.user_name])),
        preferred_login_name=preferred,
        human=_human(user) if is_human else None,
        machine=None if is_human else _machine(user),
    )


def _machine(user: User) -> Machine:
    return Machine(
        name=user.profile.display_name,
        description=user.description or "",
        access_token_type=_TOKEN_TYPES[user.access_token_type],
        has_secret=user.secret_hash is not None,
    )


def _human(user: User) -> Human:
    email, phone, password = user.email, user.phone, user.password
    return Human(
        profile=_profile(user.profile),
        email=_email(email) if email else None,
        phone=_phone(phone) if phone else None,
        address=HumanAddress(**_texts(user.address)) if user.address else None,
        password_change_required=bool(password and password.must_change),
        password_changed=password.changed_at if password else None,
    )


def _email(email: Email) -> HumanEmail:
    by = verified_contacts.source(email)
    return HumanEmail(email=email.address, is_verified=email.is_verified, verified_by=by)


def _phone(phone: Phone) -> HumanPhone:
    by = verified_contacts.source(phone)
    return HumanPhone(phone=phone.number, is_verified=phone.is_verified, verified_by=by)


def _profile(profile: Profile) -> HumanProfile:
    gender = f"GENDER_{profile.gender.upper()}" if profile.gender else ""
    return HumanProfile(**_texts(profile) | {"gender": gender})


def _texts(record: Struct) -> dict[str, str]:
    """Returns the texts of a record, by field. A text that is not set is empty, and so is left out
    of the answer."""
    return {name: text or "" for name, text in structs.asdict(record).items()}
