"""Service users, as the management API makes and finds them, and the secrets that some have."""

from __future__ import annotations

from typing import Annotated, Final

from idp import access, answers, changes, credentials
from idp.access import Call
from idp.answers import Answer, Details
from idp.changes import Changed
from idp.errors import FailedPrecondition, PermissionDenied
from idp.fields import Name, OneOf, Text, UserName
from idp.identity import new_users, permissions, read_user, users
from idp.identity.new_users import Paths, Prepared
from idp.records import USERS, Profile, TokenKind, User
from idp.requests import Request
from idp.service import Service

TOKEN_TYPES: Final[dict[str, TokenKind]] = {
    "ACCESS_TOKEN_TYPE_BEARER": "opaque",
    "ACCESS_TOKEN_TYPE_JWT": "jwt",
}


class NewMachine(Request, frozen=True, kw_only=True):
    user_name: Annotated[str, UserName()]
    name: Name
    description: Annotated[str, Text()] = ""
    access_token_type: Annotated[str, OneOf(tuple(TOKEN_TYPES))] = "ACCESS_TOKEN_TYPE_BEARER"  # noqa: S105


class MachineCreated(Answer, frozen=True, kw_only=True):
    user_id: str
    details: Details


class SecretGenerated(Answer, frozen=True, kw_only=True):
    """`client_secret` is shown here and never again."""

    client_id: str
    client_secret: str
    details: Details


async def create(service: Service, call: Call, request: NewMachine) -> MachineCreated:
    """Make a service user in the call's organization.

    Raises PermissionDenied, NotFound (the organization), Taken, Busy.
    """
    organization = await access.organization(service, call)
    now, profile = service.clock.now(), Profile(display_name=request.name)
    user = User(
        id=service.random.id(),
        org_id=organization.id,
        kind="machine",
        user_name=request.user_name,
        stamp=service.random.token(bits=64),
        profile=profile,
        created_at=now,
        changed_at=now,
        description=request.description or None,
        access_token_type=TOKEN_TYPES[request.access_token_type],
        **users.keys(request.user_name, None, profile),
    )

    async def prepare() -> Prepared:
        actor, paths = call.actor, Paths(user_name="userName")
        return await new_users.insertion(service, organization, user, actor=actor, paths=paths)

    await new_users.make(service, prepare)
    return MachineCreated(user_id=user.id, details=answers.details(user, user.org_id))


async def find(service: Service, call: Call, user_id: str) -> User:
    """A service user that the call reaches. Raises NotFound, FailedPrecondition (a person)."""
    user = await read_user.find(service, call, user_id)
    if user.kind != "machine":
        raise FailedPrecondition("this is no service user", slug="user.not_machine")
    return user


async def find_covered(service: Service, call: Call, user_id: str) -> User:
    """The same, unless it may do what the caller may not. Raises PermissionDenied, too.

    Who makes its credentials can do all that it may.
    """
    user = await find(service, call, user_id)
    if not call.rights.cover(await permissions.of_user(service, user.id)):
        raise PermissionDenied("the user may do more than the caller")
    return user


async def generate_secret(service: Service, call: Call, user_id: str) -> SecretGenerated:
    """Give a service user a secret, for the grant client credentials, in place of any other.

    Tokens live on. Raises NotFound, FailedPrecondition (a person), PermissionDenied.
    """
    secret = service.random.token()
    user = await changes.changed(
        service,
        USERS,
        lambda: find_covered(service, call, user_id),
        lambda _: {"secret_hash": credentials.digest(secret)},
        "user.secret_generated",
        call,
    )
    details = answers.details(user, user.org_id)
    return SecretGenerated(client_id=user.id, client_secret=secret, details=details)


async def remove_secret(service: Service, call: Call, user_id: str) -> Changed:
    """Take the secret away. Raises NotFound, FailedPrecondition (a person, or there is none)."""

    async def find_one() -> User:
        user = await find(service, call, user_id)
        if user.secret_hash is None:
            raise FailedPrecondition("the user has no secret", slug="user.no_secret")
        return user

    nothing, type = {"secret_hash": None}, "user.secret_removed"
    user = await changes.changed(service, USERS, find_one, lambda _: nothing, type, call)
    return Changed(details=answers.details(user, user.org_id))
