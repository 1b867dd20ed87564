"""/management/v1/orgs/me: who manages an organization."""

from __future__ import annotations

from handlers.api import ApiHandler
from idp.identity import members
from idp.identity.members import NewOrganizationMember


class MembersHandler(ApiHandler):
    """POST /management/v1/orgs/me/members."""

    permission = "org.member.write"

    async def post(self) -> None:
        request = self.read(NewOrganizationMember)
        self.answer(await members.add_to_organization(self.service, self.call, request))


ROUTES = [("/management/v1/orgs/me/members", MembersHandler)]
