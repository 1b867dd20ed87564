"""The console's pages of branding: colours, pictures, and how the sign-in pages look with them."""

from __future__ import annotations

from typing import Final

from handlers.console.policies import pictures
from handlers.console.policies.fields import (
    BRANDING_PATH,
    INSTALLATION_BRANDING_PATH,
    POLICIES,
)
from handlers.console.policies.policy_list import InstallationHandler, PoliciesHandler
from handlers.console.sections import CONSOLE
from idp.foundation.i18n import message

_LABEL: Final = next(policy for policy in POLICIES if policy.kind == "label")


class ConsoleBrandingHandler(PoliciesHandler):
    """Shows the branding of the current organization, with a preview; those who may change it get
    its form."""

    section = "branding"
    title = message("Branding", context="console")
    other_path = INSTALLATION_BRANDING_PATH
    other_label = message("Branding of the installation", context="policies")
    picture_handler = pictures.ConsolePictureHandler

    async def show(self, *ids: str) -> None:
        if self.may_change():
            done = self.query_params().if_once("done")
            url = self.url_of(f"{CONSOLE}{self.path}/label", **({"done": done} if done else {}))
            self.redirect_303(url)
            return
        self.allow_frames(self.service.config.issuer)
        self.object_page(
            self.title,
            intro=pictures.ABOUT,
            actions=self.scope_links(),
            page_parts=[
                await self.part(_LABEL),
                await pictures.part(self, self.picture_handler),
            ],
            preview_url=self.url_of(f"{CONSOLE}{self.path}/label/preview"),
            commands=self.shell(self.operations["label"], [], "policy get label"),
        )


class InstallationBrandingHandler(ConsoleBrandingHandler, InstallationHandler):
    """Shows the branding for organizations without their own."""

    title = message("Branding of the installation", context="policies")
    other_path = BRANDING_PATH
    other_label = message("Branding of the organization", context="policies")
    picture_handler = pictures.InstallationPictureHandler


ROUTES = [
    (CONSOLE + BRANDING_PATH, ConsoleBrandingHandler),
    (CONSOLE + INSTALLATION_BRANDING_PATH, InstallationBrandingHandler),
]
