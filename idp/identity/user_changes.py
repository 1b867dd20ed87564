"""Changing a user, whose login names have to stay one's own whoever else is at it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from msgspec import structs

from idp import changes
from idp.access import Call
from idp.errors import NotFound, Taken
from idp.identity import free_names, login_claims, new_users, users
from idp.identity.free_names import Candidate
from idp.identity.new_users import Paths
from idp.records import ORGANIZATIONS, USERS, User
from idp.service import Service
from storage import Write


async def make(
    service: Service,
    call: Call,
    find: Callable[[], Awaitable[User]],
    decide: Callable[[User], Mapping[str, object]],
    paths: Paths,
    type: str = "user.changed",
    also: Sequence[Write] = (),
) -> User:
    """The user as it is after the change: what `decide` sets, and the keys that follow from it.

    `paths` are where in the request a user name or an address stands that may be taken; `also`
    are more writes of the unit. Raises what `find` raises, Taken, PreconditionFailed, Busy.
    """
    claims = list[Write]()

    async def find_free() -> User:
        user = await find()
        claims[:] = await _claim(service, user, structs.replace(user, **decide(user)), paths)
        return user

    def decide_all(user: User) -> Mapping[str, object]:
        set = dict(decide(user))
        after = structs.replace(user, **set)
        return set | users.keys(after.user_name, after.email, after.profile)

    async def attempt() -> User:
        return await changes.changed(
            service,
            USERS,
            find_free,
            decide_all,
            type,
            call,
            also=lambda *_: [*claims, *also],
        )

    return await login_claims.repeated(attempt, new_users.MEETS_AT)


async def _claim(service: Service, before: User, after: User, paths: Paths) -> list[Write]:
    """The writes that give out the login names that the user did not have. Raises Taken."""
    organization = await service.store.get(ORGANIZATIONS, before.org_id)
    if organization is None:
        raise NotFound("there is no such user", slug="user.not_found")
    old = _names(users.login_names(organization, before.user_name, before.email))
    new = _names(users.login_names(organization, after.user_name, after.email)) - old
    if not new:
        return []
    claims = await login_claims.read(service, new)
    candidate = Candidate(organization, after.user_name, after.email, before.id)
    found = await free_names.taken(service, candidate)
    if found:
        raise Taken(new_users.name_problems(found, paths))
    return claims.writes(service)


def _names(both: tuple[set[str], set[str]]) -> set[str]:
    return both[0] | both[1]
