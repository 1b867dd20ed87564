"""A preview of sign-in pages with certain branding: light and dark, in both directions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, get_args
from urllib.parse import urlencode

from msgspec import structs

from handlers.console.base import ConsoleHandler
from handlers.console.policies.fields import INSTALLATION_PATH, PATH
from handlers.console.sections import CONSOLE
from handlers.pages import content_policy
from handlers.pages.branding_files import PREVIEW, PREVIEWED, preview_query, previewed
from idp import api
from idp.foundation import i18n
from idp.foundation.i18n import Message, message
from idp.oauth.params import Params
from idp.policies.page_settings import PageSettings
from idp.policies.palette import Scheme
from idp.policies.pictures import PictureLink
from idp.records import LabelRules

_LABELS: Final[Mapping[str, Message]] = {
    "light": message("Light", context="policies"),
    "dark": message("Dark", context="policies"),
}
_SCHEMES: Final[Sequence[Scheme]] = get_args(Scheme)
_EXAMPLES: Final[Mapping[str, Message]] = {
    "login-name": message("Sign in", context="login-name"),
    "password": message("Enter your password", context="password"),
    "accounts": message("Choose an account", context="accounts"),
}


class PreviewHandler(ConsoleHandler):
    """Displays a sign-in page in the stored branding, or in the one that the form of branding has
    sent and that is not stored yet. The page is made for a frame."""

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
        rules = previewed({name: form.if_once(name) or "" for name in PREVIEWED})
        # With the branding in the address, links can switch page, scheme and language.
        self.redirect_303(self.url_of(self._page_path, typed="yes", **preview_query(rules)))

    async def show(self, *ids: str) -> None:
        query = self.query_params()
        scheme: Scheme = "dark" if query.if_once("scheme") == "dark" else "light"
        example = query.if_once("page") if query.if_once("page") in _EXAMPLES else "login-name"
        rules = previewed((await self.run(self.reading))["policy"])
        entered = {}
        if query.if_once("typed"):
            rules = previewed({name: query.if_once(name) or "" for name in PREVIEWED})
            entered = {"typed": "yes", **preview_query(rules)}
        org_id = self.org_id if self.path == PATH else None
        await self.show_organization(org_id)
        own_language = self.bundle().tag
        self.language = self.offered_language(query.if_once("in")) or own_language
        await self.show_organization(org_id)  # with the texts of that language
        if self.page_settings is not None:
            self.page_settings = _in_scheme(self.page_settings, scheme, rules)
        self._allow_framing()
        chosen = {"page": str(example), "scheme": scheme, "in": self.language}
        self.page(
            "console/preview",
            example=example,
            application_name=self.bundle().text(message("Your application", context="policies")),
            brand_url=f"{PREVIEW}?{urlencode({'scheme': scheme, **preview_query(rules)})}",
            choices=[
                [
                    {
                        "label": label,
                        "tag": value if name == "in" else None,
                        "url": self.url_of(self._page_path, **{**entered, **chosen, name: value}),
                        "is_current": chosen[name] == value,
                    }
                    for value, label in values.items()
                ]
                for name, values in self._choices(own_language).items()
            ],
            problems=[{"field": "password", "text": _PROBLEM}] if example == "password" else [],
        )

    def _allow_framing(self) -> None:
        """Allows pages of this service to show the page in a frame."""
        policy = content_policy.framed_by_own_pages(self._headers["Content-Security-Policy"])
        self.set_header("Content-Security-Policy", policy)
        self.set_header("X-Frame-Options", "SAMEORIGIN")

    def _choices(self, own_language: str) -> Mapping[str, Mapping[str, Message | str]]:
        """Returns the values that each parameter of the preview's address can have."""
        tags = self.page_settings.languages if self.page_settings else i18n.available()
        languages = (
            self.language or own_language,
            own_language,
            *_other_direction(tags, i18n.direction(own_language)),
        )
        return {
            "page": _EXAMPLES,
            "scheme": _LABELS,
            "in": {tag: i18n.endonym(tag) for tag in languages},
        }


class InstallationPreviewHandler(PreviewHandler):
    """Shows the preview of the pages of organizations without their own colours."""

    reading = api.policies.READ_DEFAULT["label"]
    path = INSTALLATION_PATH


_PROBLEM: Final = message(
    "Check your email or username and your password: they don't match, or the account can't be"
    " used right now.",
    context="password",
)


def _other_direction(tags: Sequence[str], direction: str) -> list[str]:
    """Returns a language with the other writing direction, if there is one."""
    return [tag for tag in tags if i18n.direction(tag) != direction][:1]


def _in_scheme(settings: PageSettings, scheme: Scheme, rules: LabelRules) -> PageSettings:
    """Returns the page settings with this branding, and with the pictures that a browser shows in
    this colour scheme."""
    label = structs.replace(settings.label, layout=rules.layout)
    return structs.replace(
        settings,
        label=label,
        logo=_picture_of(settings.logo, scheme),
        icon=_picture_of(settings.icon, scheme),
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
