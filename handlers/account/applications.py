"""/ui/account/applications: what the person allows applications to access."""

from __future__ import annotations

from handlers.account.base import AccountHandler
from handlers.account.sections import SECTIONS
from handlers.login.consent import scope_descriptions
from idp.oauth.params import Params
from idp.oauth.sign_in import authorized_applications
from idp.oauth.sign_in.authorized_applications import AuthorizedApplication


class AccountApplicationsHandler(AccountHandler):
    """Lists the applications that the person has authorized, each with a button that revokes its
    authorization."""

    section = "applications"

    async def show(self, *ids: str) -> None:
        authorized = await authorized_applications.find_all(self.service, self.person.subject)
        self.page(
            "account/applications",
            applications=[self._template_values(application) for application in authorized],
            hidden=self.form_inputs(),
        )

    async def submit(self, form: Params, *ids: str) -> None:
        application_id = form.get("application") or ""
        await authorized_applications.remove(self.service, self.person.subject, application_id)
        self.redirect_with_notice("removed")

    def _template_values(self, application: AuthorizedApplication) -> dict[str, object]:
        return {
            "id": application.client.id,
            "name": application.client.name,
            "scopes": scope_descriptions(self.service.config, application.scopes),
            "authorized_at": application.authorized_at,
        }


ROUTES = [(SECTIONS["applications"].path, AccountApplicationsHandler)]
