"""The claims that a scope releases (OpenID Connect Core 5.4), from a user's record.

A claim without a value is left out: there is no null, no empty text and no empty object.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from idp.records import Application, Authorization, User

ALL: Final = ("profile", "email", "phone", "address")


class UserView(Struct, frozen=True):
    """A user, with the values that the claims for an application depend on.

    `preferred_username` is the name to display. Whether a contact is verified depends on the
    organization of the application, `reader_org_id` (None: of no particular one).
    """

    user: User
    preferred_username: str
    reader_org_id: str | None


def for_scopes(view: UserView, scopes: Collection[str]) -> dict[str, Any]:
    """Returns the claims about a user that `scopes` release, with `sub`."""
    claims: dict[str, Any] = {"sub": view.user.id}
    for scope in scopes:
        if scope in BY_SCOPE:
            claims |= BY_SCOPE[scope](view)
    return _non_empty(claims)


def named(view: UserView, names: Container[str], scopes: Collection[str]) -> dict[str, Any]:
    """Returns the claims with these names that `scopes` release, without `sub`."""
    claims = for_scopes(view, scopes)
    return {name: value for name, value in claims.items() if name in names and name != "sub"}


def requested(
    view: UserView, names: Collection[str], authorization: Authorization, client: Application
) -> dict[str, Any]:
    """Returns the claims about a user that an authorization request named in `claims`, as far as
    the client may have them.

    `names` are their names. A third-party client gets only those of its scopes and those that the
    user agreed to.
    """
    if client.is_third_party:
        agreed = {*names_of(authorization.scopes), *authorization.consented_claims}
        names = [name for name in names if name in agreed]
    return named(view, names, ALL)


def names_of(scopes: Iterable[str]) -> set[str]:
    """Returns the names of the claims that these scopes release."""
    return {name for scope in scopes for name in NAMES.get(scope, ())}


def scope_of(name: str) -> str | None:
    """Returns the scope that releases the claim of this name; None if none does."""
    return next((scope for scope, names in NAMES.items() if name in names), None)


def _profile(view: UserView) -> dict[str, Any]:
    profile = view.user.profile
    if view.user.kind == "machine":
        return _shared(view)
    return _shared(view) | {
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


def _shared(view: UserView) -> dict[str, Any]:
    """Returns the claims that persons and service users have in common."""
    return {
        "name": view.user.profile.display_name,
        "preferred_username": view.preferred_username,
        "updated_at": int(view.user.changed_at.timestamp()),
    }


def _email(view: UserView) -> dict[str, Any]:
    user, email = view.user, view.user.email
    if email is None:
        return {}
    # An organization may state that its users' contacts are verified; that binds only its own
    # applications.
    is_verified = email.is_verified_for(user.org_id, view.reader_org_id)
    return {"email": email.address, "email_verified": is_verified}


def _phone(view: UserView) -> dict[str, Any]:
    user, phone = view.user, view.user.phone
    if phone is None:
        return {}
    is_verified = phone.is_verified_for(user.org_id, view.reader_org_id)
    return {"phone_number": phone.number, "phone_number_verified": is_verified}


def _address(view: UserView) -> dict[str, Any]:
    address = view.user.address
    return {"address": _non_empty(msgspec.to_builtins(address)) if address else None}


def _non_empty(claims: Mapping[str, Any]) -> dict[str, Any]:
    present = {name: value for name, value in claims.items() if value is not None}
    return {name: value for name, value in present.items() if not _is_empty(value)}


def _is_empty(value: object) -> bool:
    return not value.strip() if isinstance(value, str) else value == {}


BY_SCOPE: Final[dict[str, Callable[[UserView], dict[str, Any]]]] = {
    "profile": _profile,
    "email": _email,
    "phone": _phone,
    "address": _address,
}

# The claims that each scope releases (OpenID Connect Core 5.4), which discovery lists too.
NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "profile": (
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
    ),
    "email": ("email", "email_verified"),
    "phone": ("phone_number", "phone_number_verified"),
    "address": ("address",),
}

SUPPORTED: Final = ("sub", *(name for names in NAMES.values() for name in names))
