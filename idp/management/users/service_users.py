"""Calls on service users and their secrets."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import structs

from idp import changes
from idp.changes import Change
from idp.credentials import client_secrets
from idp.credentials.client_secrets import NewSecret, Secrets
from idp.foundation.errors import FailedPrecondition
from idp.identity.users import creation as user_creation
from idp.identity.users import lookup as user_lookup
from idp.identity.users.creation import Paths, PreparedUser
from idp.management import call as management_call
from idp.management.call import Call
from idp.management.users import manageable
from idp.management.users import read as user_read
from idp.management.users import update as user_update
from idp.records import USERS, Profile, TokenKind, User
from idp.schema import answers
from idp.schema.answers import Answer, Changed, Details
from idp.schema.field_rules import Name, OneOf, Text, UserName
from idp.schema.reading import Request
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


class UserSecretGenerated(Answer, frozen=True, kw_only=True):
    """`client_secret` is returned only in this answer."""

    client_id: str
    client_secret: str
    details: Details


async def create(service: Service, call: Call, request: NewMachine) -> Change[MachineCreated]:
    """Creates a service user in the call's organization.

    Raises PermissionDenied, NotFound (the organization), Taken, Busy.
    """
    organization = await management_call.organization(service, call)
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
        **user_lookup.keys(request.user_name, None, profile, organization.id),
    )

    async def prepare() -> PreparedUser:
        actor, paths = call.actor, Paths(user_name="userName")
        return await user_creation.insertion(
            service,
            organization,
            user,
            actor=actor,
            paths=paths,
            is_by_instance=call.is_by_instance,
        )

    answer = MachineCreated(user_id=user.id, details=answers.details(user, user.org_id))
    return (await user_creation.planned(prepare)).map(lambda _: answer)


async def find(service: Service, call: Call, user_id: str) -> User:
    """Returns a service user, if the call may act in its organization.

    Raises NotFound, FailedPrecondition (the user is a person).
    """
    user = await user_read.find(service, call, user_id)
    if user.kind != "machine":
        raise FailedPrecondition("this is not a service user", error_code="user.not_machine")
    return user


async def find_covered(service: Service, call: Call, user_id: str) -> User:
    """Returns a service user that has no right that the caller does not have.

    A caller who creates a secret or token for it gets all its rights. Raises NotFound,
    FailedPrecondition (the user is a person), PermissionDenied.
    """
    await find(service, call, user_id)
    return await manageable.find(service, call, user_id)


class MachineChange(Request, frozen=True, kw_only=True):
    """A change of a service user: what is omitted does not change."""

    user_name: Annotated[str, UserName()] | None = None
    name: Name | None = None
    description: Annotated[str, Text()] | None = None
    access_token_type: Annotated[str, OneOf(tuple(TOKEN_TYPES))] | None = None


async def change(
    service: Service, call: Call, user_id: str, request: MachineChange
) -> Change[Changed]:
    """Changes a service user's names and the type of its access tokens.

    Raises NotFound, FailedPrecondition (the user is a person), PermissionDenied, Taken, Busy.
    """

    user = await find_covered(service, call, user_id)
    kind, text = request.access_token_type, request.description
    name = request.name or user.profile.display_name
    values = {
        "user_name": request.user_name or user.user_name,
        "profile": structs.replace(user.profile, display_name=name),
        "description": user.description if text is None else text or None,
        "access_token_type": TOKEN_TYPES[kind] if kind else user.access_token_type,
    }
    paths = Paths("userName")
    return (await user_update.updated(service, call, user, values, paths)).change()


async def generate_secret(
    service: Service, call: Call, user_id: str, request: NewSecret
) -> Change[UserSecretGenerated]:
    """Gives a service user a secret for the grant type client credentials, and replaces an earlier
    one.

    The earlier secret stays valid for the duration `overlap`, and tokens stay valid. Raises
    NotFound, FailedPrecondition (the user is a person), PermissionDenied.
    """
    secret, now = service.random.token(), service.clock.now()
    user = await find_covered(service, call, user_id)
    values = client_secrets.rotation_fields(user, secret, request.overlap, now)
    update = changes.updated(service, call, USERS, user, values, "user.secret_generated")
    return update.answered(
        UserSecretGenerated(client_id=user.id, client_secret=secret, details=update.details),
        *client_secrets.last_use_deletions(user, update.record),
    )


async def remove_secret(service: Service, call: Call, user_id: str) -> Change[Changed]:
    """Removes the secret of a service user, and an earlier one that is still valid.

    Raises NotFound, FailedPrecondition (the user is a person, or has no secret), PermissionDenied.
    """

    user = await find_covered(service, call, user_id)
    if user.secret_hash is None:
        raise FailedPrecondition("the user has no secret", error_code="user.no_secret")
    values = client_secrets.initial_fields(None, service.clock.now())
    update = changes.updated(service, call, USERS, user, values, "user.secret_removed")
    return update.change(*client_secrets.last_use_deletions(user, update.record))


async def secrets(service: Service, call: Call, user_id: str) -> Secrets:
    """Returns the valid secrets of a service user without their values, and when each was last
    used.

    Raises NotFound, FailedPrecondition (the user is a person).
    """
    return await client_secrets.find_all(service, await find(service, call, user_id))


async def end_secret(
    service: Service, call: Call, user_id: str, secret_id: str
) -> Change[Changed]:
    """Ends the earlier secret of a service user, which is valid in addition to the current one,
    before it expires.

    Raises NotFound, FailedPrecondition (the user is a person, or it is the current secret),
    PermissionDenied.
    """
    user = await find_covered(service, call, user_id)
    values = client_secrets.removal_fields(user, secret_id, service.clock.now())
    update = changes.updated(service, call, USERS, user, values, "user.secret_ended")
    return update.change(*client_secrets.last_use_deletions(user, update.record))
