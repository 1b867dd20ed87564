"""The console's pages of logos and icons: the current ones, and a form that uploads a file."""

from __future__ import annotations

import asyncio
import base64
from typing import Any, Final

from handlers.console.base import ConsoleHandler
from handlers.console.policies.fields import (
    BUILT_IN,
    INHERITED,
    INSTALLATION_PATH,
    OWN,
    PATH,
)
from handlers.console.sections import CONSOLE
from handlers.forms import fields, refusals
from handlers.forms.cells import cell, sub_list
from handlers.forms.fields import FormField
from handlers.forms.run_operation import Document
from handlers.http import multipart
from idp import api
from idp.foundation.errors import InvalidArgument, NotFound, PermissionDenied
from idp.foundation.i18n import message
from idp.oauth.params import Params
from idp.policies.images import MAX_BYTES

TITLES: Final = {
    "logo": message("Logo", context="policies"),
    "logo_dark": message("Logo, dark", context="policies"),
    "icon": message("Icon", context="policies"),
    "icon_dark": message("Icon, dark", context="policies"),
    "background": message("Background picture", context="policies"),
}
_COLUMNS: Final = (
    message("Picture", context="policies"),
    message("Origin", context="policies"),
)
ABOUT: Final = message(
    "The logo replaces this service's name at the top of the pages. "
    "The icon appears in the browser tab. Without a dark version, "
    "the other one is also used on dark pages.",
    context="policies",
)
_PLATES: Final = {
    "light": message(
        "This logo is hard to see on light pages. We show it on a plate.", context="policies"
    ),
    "dark": message(
        "This logo is hard to see on dark pages. We show it on a plate.", context="policies"
    ),
}
# Large enough to receive a picture that is too large, and to answer with the reason.
_MAX_FORM_BYTES: Final = 4 * 1024 * 1024
_FILE: Final = FormField(path="content", label=message("File", context="policies"))


class ConsolePictureHandler(ConsoleHandler):
    """Displays one picture of the current organization's pages, and replaces or removes it."""

    section = "branding"
    reading = api.policies.READ_PICTURE
    setting = api.policies.SET_PICTURE
    removal = api.policies.REMOVE_PICTURE
    path = PATH
    _files: dict[str, bytes]

    @property
    def max_body_bytes(self) -> int:
        return _MAX_FORM_BYTES

    def read_form(self) -> Params:
        form = multipart.parse(self.request.headers.get("Content-Type"), self.body)
        self._files = form.files
        return form.texts

    async def show(self, *ids: str) -> None:
        await self._ask(*ids)

    async def submit(self, form: Params, *ids: str) -> None:
        if not self.may_write():
            raise PermissionDenied("the person may not set pictures")
        try:
            await self._act(form, *ids)
        except InvalidArgument as error:
            problems = fields.problems([_FILE], error)
            await self._ask(*ids, status=refusals.status_of(error), problems=problems)
            return
        confirmation = "removed" if form.get("decision") == "remove" else "saved"
        self.redirect_303(self.url_of(f"{CONSOLE}{self.path}/branding", done=confirmation))

    def may_write(self) -> bool:
        return self.may("policy.write")

    async def _act(self, form: Params, picture: str) -> None:
        key = form.get("once")
        if form.get("decision") == "remove":
            await self.run(self.removal, picture, idempotency_key=key)
            return
        # One byte more than allowed is enough for the operation to refuse a file that is too
        # large.
        file = self._files.get("content", b"")[: MAX_BYTES + 1]
        content = base64.b64encode(file).decode()
        await self.run(self.setting, picture, document={"content": content}, idempotency_key=key)

    async def _ask(self, picture: str, **page_values: Any) -> None:
        if picture not in TITLES:
            raise NotFound("there is no such picture")
        answer = await self.run(self.reading, picture)
        self.page(
            "console/picture",
            title_text=TITLES[picture],
            origin=origin(answer, is_for_installation=self.path == INSTALLATION_PATH),
            picture=_picture_values(answer),
            on_dark=picture.endswith("dark"),
            may_write=self.may_write(),
            has_own="picture" in answer and not answer.get("isDefault"),
            back_url=self.url_of(f"{CONSOLE}{self.path}/branding"),
            commands=self.shell(self.setting, [picture], document={"content": "…"}),
            hidden=self.form_inputs(),
            **page_values,
        )


class InstallationPictureHandler(ConsolePictureHandler):
    """Displays one picture for all organizations without their own, and replaces or removes it."""

    reading = api.policies.READ_DEFAULT_PICTURE
    setting = api.policies.SET_DEFAULT_PICTURE
    removal = api.policies.REMOVE_DEFAULT_PICTURE
    path = INSTALLATION_PATH
    requires_recent_authentication = True

    def may_write(self) -> bool:
        return "iam.write" in self.console_session.rights.everywhere


def origin(answer: Document, *, is_for_installation: bool) -> dict[str, object]:
    """Returns the label and tone that state where a picture comes from: it is the organization's
    or installation's own, inherited from the installation, or the default.

    `answer` is that of the operation that reads the picture. `is_for_installation` is true for the
    installation's pictures, which inherit nothing.
    """
    if not answer.get("isDefault"):
        return {"label": OWN, "tone": "good"}
    return {"label": BUILT_IN if is_for_installation else INHERITED, "tone": None}


def _picture_values(answer: Document) -> dict[str, Any] | None:
    picture = answer.get("picture")
    if picture is None:
        return None
    values = {name: picture[name] for name in ("url", "width", "height")}
    return {**values, "plates": [_PLATES[scheme] for scheme in picture.get("plateOn", ())]}


async def part(page: ConsoleHandler, handler: type[ConsolePictureHandler]) -> Document:
    """Returns the template value of the pictures that the pages of `handler` change: the title and
    the origin of each."""
    is_for_installation = handler.path == INSTALLATION_PATH
    answers = await asyncio.gather(*(page.run(handler.reading, picture) for picture in TITLES))
    rows = []
    for (picture, title), answer in zip(TITLES.items(), answers, strict=True):
        url = page.url_of(f"{CONSOLE}{handler.path}/pictures/{picture}")
        origin_values = origin(answer, is_for_installation=is_for_installation)
        rows.append([cell(title, "link", url), cell(origin_values, "chip")])
    title = message("Logo and icon", context="policies")
    return sub_list(title, _COLUMNS, rows, title)


ROUTES = [
    (f"{CONSOLE}{PATH}/pictures/([a-z_]+)", ConsolePictureHandler),
    (f"{CONSOLE}{INSTALLATION_PATH}/pictures/([a-z_]+)", InstallationPictureHandler),
]
