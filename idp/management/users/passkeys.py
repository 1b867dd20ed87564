"""Calls that list and remove a user's passkeys."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from idp import changes
from idp.changes import Change
from idp.foundation.errors import NotFound
from idp.identity.factors import passkey_changes
from idp.identity.users import lookup as user_lookup
from idp.management import search as management_search
from idp.management.call import Call
from idp.management.search import Search, SearchDetails
from idp.management.users import manageable
from idp.management.users import read as user_read
from idp.records import PASSKEYS, Passkey, User
from idp.schema import answers
from idp.schema.answers import Answer, Changed, Details
from idp.search.query_planner import Filter
from idp.service import Service
from storage import Write

_READY: Final = "AUTH_FACTOR_STATE_READY"


class PasskeyView(Answer, frozen=True, kw_only=True):
    """`name` is what the user calls the passkey. `isBackedUp` says that the key is also stored
    elsewhere, usually in the account that its device belongs to.
    """

    id: str
    state: str
    name: str
    details: Details
    is_backed_up: bool = False
    last_used_date: datetime | None = None


class PasskeysFound(Answer, frozen=True, kw_only=True):
    """A page of results. `nextCursor` is present if there may be more."""

    details: SearchDetails
    result: list[PasskeyView] = []
    next_cursor: str = ""


async def search(service: Service, call: Call, user_id: str, request: Search) -> PasskeysFound:
    """Returns a user's passkeys, a page at a time, the oldest first.

    Raises NotFound, InvalidArgument (the cursor).
    """
    user = await user_read.find(service, call, user_id)
    page = await management_search.find(
        service,
        PASSKEYS,
        request.query,
        [Filter(path="user_id", value=user.id)],
        order="created_at",
    )
    return PasskeysFound(
        details=page.details,
        result=[_view(passkey, user) for passkey in page.records],
        next_cursor=page.next_cursor,
    )


async def remove(service: Service, call: Call, user_id: str, passkey_id: str) -> Change[Changed]:
    """Removes a user's passkey.

    All the user's sessions and tokens end, and the user is informed by mail. Raises NotFound,
    PermissionDenied (the user has more rights than the caller).
    """
    user = await manageable.find(service, call, user_id)
    passkey = await find(service, user, passkey_id)
    subject = await user_lookup.subject_of(service, user)
    writes: Sequence[Write] = ()
    if subject is not None:  # else the organization was deleted
        writes = (await passkey_changes.remove(service, subject, passkey, call.actor)).writes
    event = "passkey.deleted"
    return changes.removed(service, call, PASSKEYS, passkey, event, user.org_id).change(*writes)


async def find(service: Service, user: User, passkey_id: str) -> Passkey:
    """Returns one of a user's passkeys. Raises NotFound."""
    passkey = await service.store.get(PASSKEYS, passkey_id)
    if passkey is None or passkey.user_id != user.id:
        raise NotFound("there is no such passkey", error_code="passkey.not_found")
    return passkey


def _view(passkey: Passkey, user: User) -> PasskeyView:
    return PasskeyView(
        id=passkey.id,
        state=_READY,
        name=passkey.name,
        details=answers.details(passkey, user.org_id),
        is_backed_up=passkey.is_backed_up,
        last_used_date=passkey.last_used_at,
    )
