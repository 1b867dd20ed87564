"""A preview of a sign-in page with certain colours: light and dark, in both directions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, get_args
from urllib.parse import urlencode

from msgspec import structs

from handlers.console.base import ConsoleHandler
from handlers.console.policies.fields import INSTALLATION_PATH, PATH
from handlers.console.sections import CONSOLE
from handlers.pages.branding_files import PREVIEW
from idp import api
from idp.foundation import i18n
from idp.foundation.colours import contrast
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
    """Displays a sign-in page in the stored colours, or in those that the form of colours has sent
    and that are not stored yet."""

    section = "branding"
    reading = api.policies.READ["label"]
    path = PATH

    @property
    def _page_path(self) -> str:
        return f"{CONSOLE}{self.path}/label/preview"

    @property
    def _form_subject(self) -> str:
        """The subject of the form's token: the page with the colours, whose form is sent here."""
        session = self.console_session.live_session.session
        return f"{session.id}\n{self.request.path.removesuffix('/preview')}"

    async def submit(self, form: Params, *ids: str) -> None:
        form_values = {name: form.if_once(name) or "" for name in NAMES}
        # With the colours in the address, links can switch scheme and language.
        self.redirect_303(self.url_of(self._page_path, typed="yes", **_valid_colours(form_values)))

    async def show(self, *ids: str) -> None:
        query = self.query_params()
        scheme: Scheme = "dark" if query.if_once("scheme") == "dark" else "light"
        answer = await self.run(self.reading)
        colours = dict(answer["policy"])
        if query.if_once("typed"):
            colours = {name: query.if_once(name) or "" for name in NAMES}
        org_id = self.org_id if self.path == PATH else None
        await self.show_organization(org_id)
        own_language = self.bundle().tag
        self.language = self.offered_language(query.if_once("in")) or own_language
        await self.show_organization(org_id)  # with the texts of that language
        if self.page_settings is not None:
            self.page_settings = _in_scheme(self.page_settings, scheme)
        colours = _valid_colours(colours)
        entered = {"typed": "yes", **colours} if query.if_once("typed") else {}
        self._draw(scheme, colours, entered, own_language)

    def _draw(
        self,
        scheme: Scheme,
        colours: Mapping[str, str],
        entered: Mapping[str, str],
        own_language: str,
    ) -> None:
        tags = self.page_settings.languages if self.page_settings else i18n.available()
        languages = dict.fromkeys(
            (
                self.language or own_language,
                own_language,
                *_other_direction(tags, i18n.direction(own_language)),
            )
        )
        self.page(
            "console/preview",
            application_name=self.bundle().text(message("Your application", context="policies")),
            brand_url=f"{PREVIEW}?{urlencode({'scheme': scheme, **colours})}",
            views=[
                {
                    "label": _LABELS[other_scheme],
                    "tag": tag,
                    "language": i18n.endonym(tag),
                    "url": self.url_of(
                        self._page_path, **{**entered, "scheme": other_scheme, "in": tag}
                    ),
                    "is_current": (other_scheme, tag) == (scheme, self.language),
                }
                for tag in languages
                for other_scheme in _SCHEMES
            ],
            back_url=self.url_of(f"{CONSOLE}{self.path}"),
            problems=[{"field": "password", "text": _PROBLEM}],
        )


class InstallationPreviewHandler(PreviewHandler):
    """Shows the preview of the pages of organizations without their own colours."""

    reading = api.policies.READ_DEFAULT["label"]
    path = INSTALLATION_PATH


_PROBLEM: Final = message(
    "Check your email or username and your password: they don't match, or the account can't be"
    " used right now.",
    context="password",
)


def _valid_colours(values: Mapping[str, str]) -> dict[str, str]:
    """Returns the valid colours among the chosen ones, in lower case."""
    colours = {name: str(values.get(name) or "").strip().lower() for name in NAMES}
    return {name: value for name, value in colours.items() if contrast.is_colour(value)}


def _other_direction(tags: Sequence[str], direction: str) -> list[str]:
    """Returns a language with the other writing direction, if there is one."""
    return [tag for tag in tags if i18n.direction(tag) != direction][:1]


def _in_scheme(settings: PageSettings, scheme: Scheme) -> PageSettings:
    """Returns the page settings with the pictures that a browser shows in this colour scheme."""
    return structs.replace(
        settings, logo=_picture_of(settings.logo, scheme), icon=_picture_of(settings.icon, scheme)
    )


def _picture_of(picture: PictureLink | None, scheme: Scheme) -> PictureLink | None:
    if picture is None:
        return None
    variant = picture.dark if scheme == "dark" and picture.dark else picture.light
    # The browser's own scheme may be the other one.
    plate = picture.plates.get(scheme)
    plates = dict.fromkeys(_SCHEMES, plate) if plate else {}
    return structs.replace(picture, light=variant, dark=None, plates=plates)


ROUTES = [
    (f"{CONSOLE}{PATH}/label/preview", PreviewHandler),
    (f"{CONSOLE}{INSTALLATION_PATH}/label/preview", InstallationPreviewHandler),
]
