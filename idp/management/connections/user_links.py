"""Calls that list and remove the links of a user to identities at other providers."""

from __future__ import annotations

from msgspec import structs

from idp.changes import Change
from idp.foundation.errors import NotFound
from idp.mail.templates import connections as connection_messages
from idp.management import search as management_search
from idp.management.call import Call
from idp.management.search import Search, SearchDetails
from idp.management.users import manageable
from idp.management.users import read as user_read
from idp.records.identity_links import IDENTITY_LINKS, IdentityLink
from idp.schema import answers
from idp.schema.answers import Answer, Changed, Details
from idp.search.query_planner import Filter
from idp.service import Service
from idp.upstream import links


class UserLinkView(Answer, frozen=True, kw_only=True):
    """`providedUserId` is the id of the person at the provider, and `providedUserName` how the
    provider named them then."""

    user_id: str
    idp_id: str
    provided_user_id: str
    provided_user_name: str
    details: Details


class UserLinksFound(Answer, frozen=True, kw_only=True):
    """`nextCursor` is there as long as there may be more."""

    details: SearchDetails
    result: list[UserLinkView] = []
    next_cursor: str = ""


async def search(service: Service, call: Call, user_id: str, request: Search) -> UserLinksFound:
    """Returns a user's links to identities at other providers. Raises NotFound, InvalidArgument
    (the cursor)."""
    user = await user_read.find(service, call, user_id)
    page = await management_search.find(
        service, IDENTITY_LINKS, request.query, [Filter(path="user_id", value=user.id)]
    )
    return UserLinksFound(
        details=page.details,
        result=[_view(each) for each in page.records],
        next_cursor=page.next_cursor,
    )


def _view(link: IdentityLink) -> UserLinkView:
    return UserLinkView(
        user_id=link.user_id,
        idp_id=link.connection_id,
        provided_user_id=link.external_id,
        provided_user_name=link.user_name,
        details=answers.details(link, link.org_id),
    )


async def remove(
    service: Service, call: Call, user_id: str, connection_id: str, external_id: str
) -> Change[Changed]:
    """Removes a user's link to an identity at a connection's provider, and ends the sessions that
    the user has opened by it. The user is informed by mail.

    Raises NotFound (the user, or the link), PermissionDenied (the user may do more than the
    caller).
    """

    user = await manageable.find(service, call, user_id)
    page = await service.store.find(IDENTITY_LINKS, {"user_id": user.id}, limit=links.MAX_LISTED)
    requested = (connection_id, external_id)
    matching_links = [
        link for link in page.records if (link.connection_id, link.external_id) == requested
    ]
    if not matching_links:
        raise NotFound("the user has no such link", error_code="link.not_found")
    link = matching_links[0]

    async def end_sessions() -> None:
        while not await links.end_sessions(service, link.connection_id, link.user_id):
            pass

    removed_link = structs.replace(
        link, sequence=link.sequence + 1, changed_at=service.clock.now()
    )
    return Change(
        Changed(details=answers.details(removed_link, removed_link.org_id)),
        [
            *links.removals(service, [link], call.actor),
            *connection_messages.unlinked(service, user),
        ],
        [end_sessions],
    )
