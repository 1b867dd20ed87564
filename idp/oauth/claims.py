"""The claims that a scope stands for (OpenID Connect Core 5.4), from a user's record.

What is not known is absent: no null, no empty text, no empty object.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping
from typing import Any, Final

import msgspec

from idp.records import Application, User

ALL: Final = ("profile", "email", "phone", "address")


def for_scopes(user: User, scopes: Collection[str]) -> dict[str, Any]:
    """The claims about `user` that `scopes` release, with `sub`."""
    claims: dict[str, Any] = {"sub": user.id}
    for scope in scopes:
        if scope in BY_SCOPE:
            claims |= BY_SCOPE[scope](user)
    return _known(claims)


def named(user: User, names: Container[str], scopes: Collection[str]) -> dict[str, Any]:
    """The claims of these names, of those that `scopes` release: what is not known is absent."""
    told = for_scopes(user, scopes)
    return {name: value for name, value in told.items() if name in names and name != "sub"}


def nameable(client: Application, scopes: Collection[str]) -> Collection[str]:
    """The scopes whose claims a client may ask for by name, without asking for the scope.

    That of somebody else may have what its user agreed to: the scopes, and nothing beside them.
    """
    return scopes if client.is_third_party else ALL


def _profile(user: User) -> dict[str, Any]:
    profile = user.profile
    if user.kind == "machine":
        return _shared(user)
    return _shared(user) | {
        "given_name": profile.given_name,
        "family_name": profile.family_name,
        "middle_name": profile.middle_name,
        "nickname": profile.nick_name,
        "profile": profile.profile,
        "picture": profile.picture,
        "website": profile.website,
        "gender": profile.gender,
        "birthdate": profile.birthdate,
        "zoneinfo": profile.zoneinfo,
        "locale": profile.preferred_language,
    }


def _shared(user: User) -> dict[str, Any]:
    """What people and service users have in common."""
    return {
        "name": user.profile.display_name,
        "preferred_username": user.user_name,
        "updated_at": int(user.changed_at.timestamp()),
    }


def _email(user: User) -> dict[str, Any]:
    if user.email is None:
        return {}
    return {"email": user.email.address, "email_verified": user.email.is_verified}


def _phone(user: User) -> dict[str, Any]:
    if user.phone is None:
        return {}
    return {"phone_number": user.phone.number, "phone_number_verified": user.phone.is_verified}


def _address(user: User) -> dict[str, Any]:
    return {"address": _known(msgspec.to_builtins(user.address)) if user.address else None}


def _known(claims: Mapping[str, Any]) -> dict[str, Any]:
    known = {name: value for name, value in claims.items() if value is not None}
    return {name: value for name, value in known.items() if not _is_empty(value)}


def _is_empty(value: object) -> bool:
    return not value.strip() if isinstance(value, str) else value == {}


BY_SCOPE: Final[dict[str, Callable[[User], dict[str, Any]]]] = {
    "profile": _profile,
    "email": _email,
    "phone": _phone,
    "address": _address,
}

SUPPORTED: Final = (
    "sub",
    "name",
    "given_name",
    "family_name",
    "middle_name",
    "nickname",
    "preferred_username",
    "profile",
    "picture",
    "website",
    "gender",
    "birthdate",
    "zoneinfo",
    "locale",
    "updated_at",
    "email",
    "email_verified",
    "phone_number",
    "phone_number_verified",
    "address",
)
