"""/admin/v1: what concerns the whole instance."""

from __future__ import annotations

from handlers.api import ApiHandler
from idp.identity import members, org_setup
from idp.identity.members import NewInstanceMember


class SetUpOrganizationHandler(ApiHandler):
    """POST /admin/v1/orgs/_setup: an organization with its first administrator."""

    permission = "iam.write"

    async def post(self) -> None:
        document = self.document()
        self.answer(await org_setup.set_up(self.service, document, actor=self.call.actor))


class InstanceMembersHandler(ApiHandler):
    """POST /admin/v1/members: who manages the instance."""

    permission = "iam.member.write"

    async def post(self) -> None:
        request = self.read(NewInstanceMember)
        self.answer(await members.add_to_instance(self.service, self.call, request))


ROUTES = [
    ("/admin/v1/orgs/_setup", SetUpOrganizationHandler),
    ("/admin/v1/members", InstanceMembersHandler),
]
