"""A preview of a sign-in page with certain colours: light and dark, in both directions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, get_args
from urllib.parse import urlencode

from msgspec import structs

from handlers.console.base import ConsoleHandler
from handlers.console.policies.fields import OF_ALL, PATH, SECTION
from handlers.console.sections import CONSOLE
from handlers.pages.branding_files import PREVIEW
from idp.foundation import contrast, i18n
from idp.foundation.i18n import Message, message
from idp.oauth.params import Params
from idp.policies.page_settings import PageSettings
from idp.policies.palette import NAMES, Scheme
from idp.policies.pictures import PictureLink

_LABELS: Final[Mapping[str, Message]] = {
    "light": message("Light", context="policies"),
    "dark": message("Dark", context="policies"),
}
_SCHEMES: Final[Sequence[Scheme]] = get_args(Scheme)


class PreviewHandler(ConsoleHandler):
    """Shows a sign-in page in the saved colours, or in unsaved ones that the form of colours has
    sent."""

    section = SECTION
    prefix = "/management/v1/policies/label"
    path = PATH

    @property
    def _here(self) -> str:
        return f"{CONSOLE}{self.path}/label/preview"

    @property
    def _form_subject(self) -> str:
        """The subject of the form's token: the page with the colours, whose form is sent here."""
        return f"{self.visit.live.session.id}\n{self.request.path.removesuffix('/preview')}"

    async def submit(self, form: Params, *ids: str) -> None:
        typed = {name: form.if_once(name) or "" for name in NAMES}
        # With the colours in the address, links can switch scheme and language.
        self.redirect_303(self.at(self._here, typed="yes", **_usable(typed)))

    async def show(self, *ids: str) -> None:
        query = self.query_params()
        scheme: Scheme = "dark" if query.if_once("scheme") == "dark" else "light"
        answer = await self.run(f"GET {self.prefix}")
        chosen = dict(answer["policy"])
        if query.if_once("typed"):
            chosen = {name: query.if_once(name) or "" for name in NAMES}
        org_id = self.org_id if self.path == PATH else None
        await self.show_organization(org_id)
        own = self.bundle().tag
        self.language = self.offered_language(query.if_once("in")) or own
        await self.show_organization(org_id)  # with the texts of that language
        if self.page_settings is not None:
            self.page_settings = _in_scheme(self.page_settings, scheme)
        chosen = _usable(chosen)
        entered = {"typed": "yes", **chosen} if query.if_once("typed") else {}
        self._draw(scheme, chosen, entered, own)

    def _draw(
        self, scheme: Scheme, chosen: Mapping[str, str], entered: Mapping[str, str], own: str
    ) -> None:
        tags = self.page_settings.languages if self.page_settings else i18n.available()
        both = dict.fromkeys((self.language or own, own, *_others(tags, i18n.direction(own))))
        self.page(
            "console/preview",
            application_name=self.bundle().text(message("Your application", context="policies")),
            brand_url=f"{PREVIEW}?{urlencode({'scheme': scheme, **chosen})}",
            views=[
                {
                    "label": _LABELS[each],
                    "tag": tag,
                    "language": i18n.endonym(tag),
                    "url": self.at(self._here, **{**entered, "scheme": each, "in": tag}),
                    "is_current": (each, tag) == (scheme, self.language),
                }
                for tag in both
                for each in _SCHEMES
            ],
            back_url=self.at(f"{CONSOLE}{self.path}"),
            problems=[{"field": "password", "text": _PROBLEM}],
        )


class InstallationPreviewHandler(PreviewHandler):
    """Shows the preview of the pages of organizations without their own colours."""

    prefix = "/admin/v1/policies/label"
    path = OF_ALL


_PROBLEM: Final = message(
    "That login name and password don't match, or the account can't be used right now.",
    context="password",
)


def _usable(chosen: Mapping[str, str]) -> dict[str, str]:
    """Returns the valid colours among the chosen ones, in lower case."""
    found = {name: str(chosen.get(name) or "").strip().lower() for name in NAMES}
    return {name: value for name, value in found.items() if contrast.is_colour(value)}


def _others(tags: Sequence[str], direction: str) -> list[str]:
    """Returns a language with the other writing direction, if there is one."""
    return [tag for tag in tags if i18n.direction(tag) != direction][:1]


def _in_scheme(settings: PageSettings, scheme: Scheme) -> PageSettings:
    """Returns the page settings with the pictures that a browser shows in this colour scheme."""
    return structs.replace(
        settings, logo=_alone(settings.logo, scheme), icon=_alone(settings.icon, scheme)
    )


def _alone(sign: PictureLink | None, scheme: Scheme) -> PictureLink | None:
    if sign is None:
        return None
    variant = sign.dark if scheme == "dark" and sign.dark else sign.light
    return structs.replace(sign, light=variant, dark=None)


ROUTES = [
    (f"{CONSOLE}{PATH}/label/preview", PreviewHandler),
    (f"{CONSOLE}{OF_ALL}/label/preview", InstallationPreviewHandler),
]
