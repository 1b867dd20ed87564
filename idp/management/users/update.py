"""Updates of a user that keep login names unique under concurrent changes."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import structs

from idp import changes
from idp.changes import RecordChange
from idp.foundation.errors import NotFound
from idp.identity.users import creation as user_creation
from idp.identity.users import lookup as user_lookup
from idp.identity.users.creation import NameAvailability, Paths
from idp.management.call import Call
from idp.records import ORGANIZATIONS, USERS, User
from idp.service import Service


async def updated(
    service: Service,
    call: Call,
    user: User,
    values: Mapping[str, object],
    paths: Paths,
    event_type: str = "user.changed",
) -> RecordChange[User]:
    """Returns the update that sets `values` of a user, and the search keys that follow from them.

    `paths` are the JSON paths of user name and address in the request, for the problems. Raises
    NotFound, Taken, InvalidArgument (a user name with another organization's domain),
    PreconditionFailed.
    """
    changed_user = structs.replace(user, **values)
    availability = await _available(service, call, user, changed_user, paths)
    email = availability.check.email if availability else changed_user.email
    keys = user_lookup.keys(changed_user.user_name, email, changed_user.profile, user.org_id)
    update = changes.updated(
        service, call, USERS, user, {**values, "email": email, **keys}, event_type
    )
    if availability is None or not update.writes:
        return update
    name_writes = availability.writes(service, call.actor)
    return structs.replace(update, writes=[*update.writes, *name_writes])


async def _available(
    service: Service, call: Call, current: User, changed_user: User, paths: Paths
) -> NameAvailability | None:
    """Returns the availability of the user's names, or None if they do not change.

    Raises Taken, InvalidArgument (a user name with another organization's domain), NotFound.
    """
    organization = await service.store.get(ORGANIZATIONS, current.org_id)
    if organization is None:
        raise NotFound("there is no such user", error_code="user.not_found")
    if changed_user.user_name == current.user_name and changed_user.email == current.email:
        return None
    requested = user_creation.candidate(
        organization, changed_user, current, is_by_instance=call.is_by_instance
    )
    (availability,) = await user_creation.availability_of_each(service, [requested])
    if problems := availability.problems(paths):
        raise user_creation.refusal(problems)
    return availability
