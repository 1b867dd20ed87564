"""PUT /v2/users/human/{userId}: changes the fields of a person that the request contains."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import structs

from idp.changes import Change
from idp.identity.users import creation as user_creation
from idp.identity.users.creation import Paths
from idp.management.call import Call
from idp.management.users import manageable
from idp.management.users import update as user_update
from idp.management.users.person_fields import (
    GENDERS,
    Birthdate,
    Gender,
    PostalAddress,
    WebPage,
    Zone,
)
from idp.records import Profile
from idp.schema.answers import Changed
from idp.schema.field_rules import Language, Name, Text, UserName
from idp.schema.reading import Request
from idp.service import Service

_PATHS: Final = Paths(user_name="username", email="username")


class ProfileChange(Request, frozen=True, kw_only=True):
    """A change of a profile. An empty text removes a value that is optional; an empty display name
    becomes "first last".
    """

    given_name: Name | None = None
    family_name: Name | None = None
    nick_name: Annotated[str, Text()] | None = None
    display_name: Annotated[str, Text()] | None = None
    preferred_language: Annotated[str, Language()] | None = None
    gender: Gender | None = None
    middle_name: Annotated[str, Text()] | None = None
    profile: Annotated[str, WebPage()] | None = None
    picture: Annotated[str, WebPage()] | None = None
    website: Annotated[str, WebPage()] | None = None
    birthdate: Annotated[str, Birthdate()] | None = None
    zoneinfo: Annotated[str, Zone()] | None = None

    def applied_to(self, current: Profile) -> Profile:
        """Returns the profile `current` with the fields that the request contains."""
        sent = {name: value for name, value in structs.asdict(self).items() if value is not None}
        values = {name: value or None for name, value in sent.items()}
        if self.gender is not None:
            values["gender"] = GENDERS.get(self.gender)
        if "display_name" in values:
            values["display_name"] = self.display_name or ""
        return user_creation.with_display_name(structs.replace(current, **values))


class HumanChange(Request, frozen=True, kw_only=True):
    """A change of a person: what is omitted does not change. The address is replaced as a whole.
    Email address, phone number and password have calls of their own.
    """

    username: Annotated[str, UserName()] | None = None
    profile: ProfileChange | None = None
    address: PostalAddress | None = None


async def change(
    service: Service, call: Call, user_id: str, request: HumanChange
) -> Change[Changed]:
    """Changes a person's user name, profile and address; no session or token ends.

    Raises NotFound, FailedPrecondition (the user is a service user), PermissionDenied, Taken,
    Busy.
    """

    user = await manageable.find_person(service, call, user_id)
    profile, address = request.profile, request.address
    values = {
        "user_name": request.username or user.user_name,
        "profile": profile.applied_to(user.profile) if profile else user.profile,
        "address": address.stored() if address else user.address,
    }
    return (await user_update.updated(service, call, user, values, _PATHS)).change()
