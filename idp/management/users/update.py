"""Updates of a user that keep login names unique under concurrent changes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from msgspec import structs

from idp.audit import versioned_updates
from idp.foundation.errors import NotFound
from idp.identity.users import creation as user_creation
from idp.identity.users import login_name_reservations
from idp.identity.users import lookup as user_lookup
from idp.identity.users.creation import NameAvailability, Paths
from idp.management.call import Call
from idp.records import ORGANIZATIONS, USERS, Email, User
from idp.service import Service
from storage import Write


async def apply(
    service: Service,
    call: Call,
    find: Callable[[], Awaitable[User]],
    decide: Callable[[User], Mapping[str, object]],
    paths: Paths,
    type: str = "user.changed",
    further_writes: Sequence[Write] = (),
) -> User:
    """Changes a user: stores the fields that `decide` returns for the stored user, together with
    the search keys that follow from them, and returns the changed user.

    `find` returns the user as it is stored; both functions are called again if a concurrent change
    interferes. `paths` are the JSON paths of user name and address in the request, for the
    problems; `type` is that of the event; `further_writes` are further writes of the unit. Raises
    what `find` raises, Taken, InvalidArgument (a user name with another organization's domain),
    PreconditionFailed, Busy.
    """
    name_writes, emails = list[Write](), list[Email | None]()

    async def find_with_free_names() -> User:
        user = await find()
        changed_user = structs.replace(user, **decide(user))
        # In each attempt: a concurrent change may have reserved one of the names.
        availability = await _available(service, call, user, changed_user, paths)
        name_writes[:] = availability.writes(service, call.actor) if availability else []
        emails[:] = [availability.check.email if availability else changed_user.email]
        return user

    def values_with_keys(user: User) -> Mapping[str, object]:
        changed_user = structs.replace(user, **decide(user))
        keys = user_lookup.keys(
            changed_user.user_name, emails[0], changed_user.profile, user.org_id
        )
        return {**decide(user), "email": emails[0], **keys}

    async def attempt() -> User:
        return await versioned_updates.changed(
            service,
            USERS,
            find_with_free_names,
            values_with_keys,
            type,
            call,
            further_writes=lambda *_: [*name_writes, *further_writes],
        )

    return await login_name_reservations.repeated(attempt, user_creation.NAME_COLLECTIONS)


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
