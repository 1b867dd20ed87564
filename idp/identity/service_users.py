"""Service users and their personal access tokens, as the management API makes them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Final

from idp import access, answers, events
from idp.access import Call
from idp.answers import Answer, Details
from idp.errors import FailedPrecondition, FieldProblem, InvalidArgument, PermissionDenied
from idp.fields import Instant, Name, OneOf, Text, UserName
from idp.identity import new_users, pats, permissions, read_user, users
from idp.identity.new_users import Paths, Prepared
from idp.records import PATS, Profile, User
from idp.requests import Request
from idp.service import Service
from storage.settling import commit_settled

PAT_LIVES: Final = timedelta(days=90)  # unless the request says otherwise


class NewMachine(Request, frozen=True, kw_only=True):
    user_name: Annotated[str, UserName()]
    name: Name
    description: Annotated[str, Text()] = ""
    access_token_type: Annotated[
        str,
        OneOf(
            ("ACCESS_TOKEN_TYPE_BEARER",),
            ("ACCESS_TOKEN_TYPE_JWT",),
            "user.access_token_type.unsupported",
        ),
    ] = "ACCESS_TOKEN_TYPE_BEARER"  # noqa: S105 - a kind


class MachineCreated(Answer, frozen=True, kw_only=True):
    user_id: str
    details: Details


class NewPat(Request, frozen=True, kw_only=True):
    expiration_date: Annotated[datetime, Instant()] | None = None


class PatCreated(Answer, frozen=True, kw_only=True):
    """`token` is shown here and never again."""

    token_id: str
    token: str
    expiration_date: datetime
    details: Details


async def create(service: Service, call: Call, request: NewMachine) -> MachineCreated:
    """Make a service user in the call's organization.

    Raises PermissionDenied, NotFound (the organization), Taken, Busy.
    """
    organization = await access.organization(service, call)
    now = service.clock.now()
    user = User(
        id=service.random.id(),
        org_id=organization.id,
        kind="machine",
        user_name=request.user_name,
        login_key=users.login_key(request.user_name),
        stamp=service.random.token(bits=64),
        profile=Profile(display_name=request.name),
        created_at=now,
        changed_at=now,
        description=request.description or None,
    )

    async def prepare() -> Prepared:
        actor, paths = call.actor, Paths(user_name="userName")
        return await new_users.insertion(service, organization, user, actor=actor, paths=paths)

    await new_users.make(service, prepare)
    return MachineCreated(user_id=user.id, details=answers.details(user, user.org_id))


async def create_pat(service: Service, call: Call, user_id: str, request: NewPat) -> PatCreated:
    """Make a personal access token of a service user.

    Raises NotFound; FailedPrecondition (a person has none); PermissionDenied: a token is as
    powerful as its user, so who makes it has to be, too; InvalidArgument (the date).
    """
    user = await read_user.find(service, call, user_id)
    subject = await users.find_subject(service, user.id)
    if subject is None or user.kind != "machine":
        raise FailedPrecondition(
            "only service users have personal access tokens", slug="user.not_machine"
        )
    if not call.rights.cover(await permissions.of_user(service, user.id)):
        raise PermissionDenied("the user may do more than the caller")
    now = service.clock.now()
    expires_at = request.expiration_date or now + PAT_LIVES
    if expires_at <= now:
        problem = FieldProblem("pat.expiration_past", "expirationDate", "is in the past")
        raise InvalidArgument([problem])
    vendor = service.config.vendor
    record, token = pats.new(service.random, vendor, subject, now, expires_at)
    await commit_settled(
        service.store,
        *events.insertion(
            service.random, PATS, record, "pat.created", call.actor, now, user=user.id
        ),
    )
    return PatCreated(
        token_id=record.id,
        token=token,
        expiration_date=expires_at,
        details=answers.details(record, user.org_id),
    )
