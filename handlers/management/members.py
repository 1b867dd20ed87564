"""/management/v1/orgs/me: who manages an organization."""

from __future__ import annotations

from typing import Final

from handlers.api import ApiHandler
from idp.identity import members
from idp.identity.members import NewOrganizationMember, OrganizationMemberChange

_MEMBERS: Final = "/management/v1/orgs/me/members"


class MembersHandler(ApiHandler):
    """POST /management/v1/orgs/me/members."""

    permission = "org.member.write"

    async def post(self) -> None:
        request = self.read(NewOrganizationMember)
        self.answer(await members.add_to_organization(self.service, self.call, request))


class MemberHandler(ApiHandler):
    """PUT and DELETE /management/v1/orgs/me/members/{userId}."""

    permission = "org.member.write"

    async def put(self, user_id: str) -> None:
        id, request = self.id(user_id), self.read(OrganizationMemberChange)
        self.answer(await members.change_in_organization(self.service, self.call, id, request))

    async def delete(self, user_id: str) -> None:
        id = self.id(user_id)
        self.answer(await members.remove_from_organization(self.service, self.call, id))


ROUTES = [(_MEMBERS, MembersHandler), (f"{_MEMBERS}/([^/]+)", MemberHandler)]
