"""/ui/account/applications: what the person allows applications to access."""

from __future__ import annotations

from handlers.account.base import AccountHandler
from handlers.account.sections import SECTIONS
from handlers.forms import cells
from handlers.login.consent import in_words
from idp.oauth.params import Params
from idp.oauth.sign_in import authorized_applications
from idp.oauth.sign_in.authorized_applications import AuthorizedApplication


class AccountApplicationsHandler(AccountHandler):
    """Lists the applications that the person has authorized, each with a button that revokes its
    authorization."""

    section = "applications"

    async def show(self, *ids: str) -> None:
        authorized = await authorized_applications.listed(self.service, self.person.subject)
        self.page(
            "account/applications",
            applications=[self._template_values(one) for one in authorized],
            hidden=self.form_inputs(),
        )

    async def submit(self, form: Params, *ids: str) -> None:
        application_id = form.get("application") or ""
        await authorized_applications.remove(self.service, self.person.subject, application_id)
        self.done("removed")

    def _template_values(self, one: AuthorizedApplication) -> dict[str, object]:
        return {
            "id": one.client.id,
            "name": one.client.name,
            "scopes": in_words(self.service.config, one.scopes),
            "since": cells.instant(one.since.isoformat())["value"],
        }


ROUTES = [(SECTIONS["applications"].path, AccountApplicationsHandler)]
