"""/admin/v1: what concerns the whole instance."""

from __future__ import annotations

from handlers.api import ApiHandler
from idp.identity import org_setup


class SetUpOrganizationHandler(ApiHandler):
    """POST /admin/v1/orgs/_setup: an organization with its first administrator."""

    permission = "iam.write"

    async def post(self) -> None:
        document = self.document()
        self.answer(await org_setup.set_up(self.service, document, actor=self.call.actor))


ROUTES = [("/admin/v1/orgs/_setup", SetUpOrganizationHandler)]
