"""Rows of persons in an export, by which an import creates the same persons."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from msgspec import structs

from idp.identity.factors import second_factors
from idp.identity.users import verified_contacts
from idp.management.users.person_fields import GENDERS
from idp.records import USERS, Address, IdpLink, Organization, Password, Profile, User
from idp.transfer.kinds import export_iteration
from idp.transfer.kinds.kind import ExportContext
from idp.transfer.kinds.users.human_request import STATES

_STATES: Final = {state: name for name, state in STATES.items()}
_GENDERS: Final = {gender: name for name, gender in GENDERS.items()}


async def export(
    context: ExportContext, organization: Organization
) -> AsyncIterator[dict[str, Any]]:
    """Yields a row for each person of the organization, in the order of user names."""
    where = {"org_id": organization.id}
    async for user in export_iteration.records(context.view, USERS, where, order="login_key"):
        if user.kind == "human":
            yield {"userId": user.id, "user": _exported(context, user)}


def _exported(context: ExportContext, user: User) -> dict[str, Any]:
    email, phone, profile = user.email, user.phone, user.profile
    # The import requires these fields, unless the row is `incomplete`.
    is_whole = email is not None and profile.given_name and profile.family_name
    return export_iteration.non_empty(
        {
            "userName": user.user_name,
            "profile": _profile(profile),
            "email": email
            and export_iteration.non_empty(
                {
                    "email": email.address,
                    "isEmailVerified": email.is_verified,
                    "verifiedBy": verified_contacts.source(email),
                }
            ),
            "phone": phone
            and export_iteration.non_empty(
                {
                    "phone": phone.number,
                    "isPhoneVerified": phone.is_verified,
                    "verifiedBy": verified_contacts.source(phone),
                }
            ),
            "address": user.address and _address(user.address),
            "idps": [_link(link) for link in user.idp_links],
            "state": _STATES[user.state],
            "incomplete": not is_whole,
            **(_password(user.password) if context.with_passwords and user.password else {}),
            **(_otp(context, user) if context.with_otp else {}),
        }
    )


def _profile(profile: Profile) -> dict[str, Any]:
    gender = _GENDERS[profile.gender] if profile.gender else ""
    return export_iteration.non_empty(
        {
            "firstName": profile.given_name,
            "lastName": profile.family_name,
            "nickName": profile.nick_name,
            "displayName": profile.display_name,
            "preferredLanguage": profile.preferred_language,
            "gender": gender,
            "middleName": profile.middle_name,
            "profile": profile.profile,
            "picture": profile.picture,
            "website": profile.website,
            "birthdate": profile.birthdate,
            "zoneinfo": profile.zoneinfo,
        }
    )


def _address(address: Address) -> dict[str, Any]:
    return export_iteration.non_empty(
        {_camel(name): text for name, text in structs.asdict(address).items()}
    )


def _camel(name: str) -> str:
    first, *words = name.split("_")
    return first + "".join(word.title() for word in words)


def _link(link: IdpLink) -> dict[str, str]:
    return {
        "configId": link.idp_id,
        "externalUserId": link.user_id,
        "displayName": link.user_name,
    }


def _password(password: Password) -> dict[str, Any]:
    hashed: Mapping[str, Any] = {
        "value": password.hash,
        "changeDate": export_iteration.instant(password.changed_at),
        "expirationDate": export_iteration.instant(password.expires_at),
    }
    return {
        "hashedPassword": export_iteration.non_empty(hashed),
        "passwordChangeRequired": password.must_change,
    }


def _otp(context: ExportContext, user: User) -> dict[str, Any]:
    secret = second_factors.secret_of(context.service, user)
    return {"otpCode": secret, "otpName": user.totp.name if user.totp else ""} if secret else {}
