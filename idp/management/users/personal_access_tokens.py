"""Calls on the personal access tokens of a service user."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Final

from idp import changes
from idp.changes import Change
from idp.credentials import expirations, last_uses
from idp.foundation.errors import FieldProblem, NotFound
from idp.identity.users import lookup as user_lookup
from idp.identity.users import personal_access_tokens as user_personal_access_tokens
from idp.management import search as management_search
from idp.management.call import Call
from idp.management.search import Search, SearchDetails
from idp.management.users import service_users
from idp.records import PATS, PersonalAccessToken, User
from idp.schema import answers
from idp.schema.answers import Answer, Changed, Details
from idp.schema.field_rules import Instant
from idp.schema.reading import Request
from idp.search import paging
from idp.search.paging import ListDetails
from idp.search.query_planner import Filter
from idp.service import Service

DEFAULT_PAT_LIFETIME: Final = timedelta(days=90)  # without an expirationDate and without a maximum


class NewPat(Request, frozen=True, kw_only=True):
    expiration_date: Annotated[datetime, Instant()] | None = None


class PatCreated(Answer, frozen=True, kw_only=True):
    """`token` is returned only in this answer."""

    token_id: str
    token: str
    expiration_date: datetime
    details: Details


class PatView(Answer, frozen=True, kw_only=True):
    id: str
    details: Details
    expiration_date: datetime
    last_used_at: datetime | None = None


class PatFound(Answer, frozen=True, kw_only=True):
    token: PatView


class PatsFound(Answer, frozen=True, kw_only=True):
    """A page of results. `nextCursor` is present if there may be more."""

    details: SearchDetails
    result: list[PatView] = []
    next_cursor: str = ""


class Pats(Answer, frozen=True, kw_only=True):
    details: ListDetails
    result: list[PatView] = []


async def create(
    service: Service, call: Call, user_id: str, request: NewPat
) -> Change[PatCreated]:
    """Creates a personal access token of a service user.

    Raises NotFound; FailedPrecondition (the user is a person); PermissionDenied if the user has
    rights that the caller does not have, because the token has them, too; InvalidArgument (the
    date).
    """
    user = await service_users.find_covered(service, call, user_id)
    subject = await user_lookup.find_subject(service, user.id)
    if subject is None:
        raise NotFound("there is no such user", error_code="user.not_found")
    now = service.clock.now()
    expires_at = expirations.expiration(
        request.expiration_date,
        now,
        service.config.pat_max_days,
        fallback=now + DEFAULT_PAT_LIFETIME,
        past_problem=FieldProblem("pat.expiration_past", "expirationDate", "is in the past"),
    )
    vendor = service.config.vendor
    record, token = user_personal_access_tokens.new(
        service.random, vendor, subject, now, expires_at
    )
    return Change(
        PatCreated(
            token_id=record.id,
            token=token,
            expiration_date=expires_at,
            details=answers.details(record, user.org_id),
        ),
        changes.created(
            service, call, PATS, record, "pat.created", {"user": user.id}, user.org_id
        ),
    )


async def find_all(service: Service, call: Call, user_id: str) -> Pats:
    """Returns the personal access tokens of a service user, at most a thousand, without their
    values.

    Raises NotFound, FailedPrecondition (the user is a person).
    """
    user = await service_users.find(service, call, user_id)
    details, tokens = await paging.first_page(service, PATS, {"user_id": user.id})
    views = await last_uses.with_last_uses(service, [_view(pat) for pat in tokens])
    return Pats(details=details, result=views)


async def search(service: Service, call: Call, user_id: str, request: Search) -> PatsFound:
    """Returns the personal access tokens of a service user, a page at a time.

    Raises NotFound, FailedPrecondition (the user is a person), InvalidArgument (the cursor).
    """
    user = await service_users.find(service, call, user_id)
    page = await management_search.find(
        service, PATS, request.query, [Filter(path="user_id", value=user.id)]
    )
    return PatsFound(
        details=page.details,
        result=await last_uses.with_last_uses(service, [_view(pat) for pat in page.records]),
        next_cursor=page.next_cursor,
    )


async def show(service: Service, call: Call, user_id: str, token_id: str) -> PatFound:
    """Returns one personal access token of a service user, without its value.

    Raises NotFound, FailedPrecondition (the user is a person).
    """
    user = await service_users.find(service, call, user_id)
    view = _view(await _find(service, user, token_id))
    return PatFound(token=(await last_uses.with_last_uses(service, [view]))[0])


async def remove(service: Service, call: Call, user_id: str, token_id: str) -> Change[Changed]:
    """Revokes a personal access token of a service user.

    Raises NotFound, FailedPrecondition (the user is a person), PermissionDenied (the user has more
    rights than the caller).
    """
    user = await service_users.find_covered(service, call, user_id)
    pat = await _find(service, user, token_id)
    return changes.removed(service, call, PATS, pat, "pat.deleted", user.org_id).change(
        last_uses.deletion(pat.id)
    )


async def _find(service: Service, user: User, token_id: str) -> PersonalAccessToken:
    pat = await service.store.get(PATS, token_id)
    if pat is None or pat.user_id != user.id:
        raise NotFound("there is no such token", error_code="pat.not_found")
    return pat


def _view(pat: PersonalAccessToken) -> PatView:
    details = answers.details(pat, pat.org_id)
    return PatView(id=pat.id, details=details, expiration_date=pat.expires_at)
