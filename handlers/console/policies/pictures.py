"""The console's pages of logos and icons: the current ones, and a form that uploads a file."""

from __future__ import annotations

import base64
from typing import Any, Final

from handlers.console import commands
from handlers.console.base import ConsoleHandler
from handlers.console.policies.fields import BUILT_IN, INHERITED, OF_ALL, OWN, PATH, SECTION
from handlers.console.sections import CONSOLE
from handlers.forms import fields, refusals
from handlers.forms.cells import action_link, cell, sub_list
from handlers.forms.fields import FormField
from handlers.forms.run_operation import BY_NAME, Document
from handlers.http import multipart
from idp.foundation.errors import InvalidArgument, NotFound, PermissionDenied
from idp.foundation.i18n import message
from idp.oauth.params import Params
from idp.policies.images import MAX_BYTES

TITLES: Final = {
    "logo": message("Logo", context="policies"),
    "logo_dark": message("Logo, dark", context="policies"),
    "icon": message("Icon", context="policies"),
    "icon_dark": message("Icon, dark", context="policies"),
}
_COLUMNS: Final = (
    message("Picture", context="policies"),
    message("Where it comes from", context="policies"),
)
_ABOUT: Final = message(
    "The logo stands at the head of the pages instead of this service's name, the icon in the"
    " browser's tab. Without a dark one, the other stands on dark pages too.",
    context="policies",
)
# Large enough to receive a picture that is too large, and to answer with the reason.
_MAX_FORM_BYTES: Final = 4 * 1024 * 1024
_FILE: Final = FormField(path="content", label=message("File", context="policies"))


class ConsolePictureHandler(ConsoleHandler):
    """Displays one picture of the current organization's pages, and replaces or removes it."""

    section = SECTION
    prefix = "/management/v1/policies/label"
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
        done = "removed" if form.get("decision") == "remove" else "saved"
        self.redirect_303(self.at(f"{CONSOLE}{self.path}/pictures", done=done))

    def may_write(self) -> bool:
        return self.may("policy.write")

    async def _act(self, form: Params, picture: str) -> None:
        operation, key = f"{self.prefix}/{{picture}}", form.get("once")
        if form.get("decision") == "remove":
            await self.run(f"DELETE {operation}", picture, idempotency_key=key)
            return
        # One byte more than allowed is enough for the operation to refuse a file that is too
        # large.
        file = self._files.get("content", b"")[: MAX_BYTES + 1]
        content = base64.b64encode(file).decode()
        await self.run(
            f"PUT {operation}", picture, document={"content": content}, idempotency_key=key
        )

    async def _ask(self, picture: str, **more: Any) -> None:
        if picture not in TITLES:
            raise NotFound("there is no such picture")
        answer = await self.run(f"GET {self.prefix}/{{picture}}", picture)
        self.page(
            "console/picture",
            title_text=TITLES[picture],
            origin=origin(answer, is_of_all=self.path == OF_ALL),
            picture=_picture_values(answer),
            on_dark=picture.endswith("dark"),
            may_write=self.may_write(),
            has_own="picture" in answer and not answer.get("isDefault"),
            back_url=self.at(f"{CONSOLE}{self.path}/pictures"),
            commands=commands.by_call(
                self.service.config,
                BY_NAME[f"PUT {self.prefix}/{{picture}}"],
                [picture],
                {"content": "…"},
                self.org_id,
            ),
            hidden=self.form_inputs(),
            **more,
        )


class InstallationPictureHandler(ConsolePictureHandler):
    """Displays one picture for all organizations without their own, and replaces or removes it."""

    prefix = "/admin/v1/policies/label"
    path = OF_ALL
    requires_recent_authentication = True

    def may_write(self) -> bool:
        return "iam.write" in self.visit.rights.everywhere


def origin(answer: Document, *, is_of_all: bool) -> dict[str, object]:
    """Returns the label and tone that state where a picture comes from: it is the organization's
    or installation's own, inherited from the installation, or built in.

    `answer` is that of the operation that reads the picture. `is_of_all` is true for the
    installation's pictures, which inherit nothing.
    """
    if not answer.get("isDefault"):
        return {"label": OWN, "tone": "good"}
    return {"label": BUILT_IN if is_of_all else INHERITED, "tone": None}


def _picture_values(answer: Document) -> dict[str, Any] | None:
    picture = answer.get("picture")
    if picture is None:
        return None
    return {name: picture[name] for name in ("url", "width", "height")}


class PicturesHandler(ConsoleHandler):
    """Lists the logos and icons of the current organization, with where each comes from."""

    section = SECTION
    prefix = ConsolePictureHandler.prefix
    path = PATH

    async def show(self, *ids: str) -> None:
        url = f"{CONSOLE}{self.path}/pictures"
        rows = []
        for picture, title in TITLES.items():
            answer = await self.run(f"GET {self.prefix}/{{picture}}", picture)
            whose = origin(answer, is_of_all=self.path == OF_ALL)
            rows.append([cell(title, "link", self.at(f"{url}/{picture}")), cell(whose, "chip")])
        title = message("Logo and icon", context="policies")
        self.page(
            "console/show",
            title_text=title,
            state=None,
            intro=_ABOUT,
            facts=[],
            actions=[
                action_link(message("Policies", context="console"), self.at(CONSOLE + self.path))
            ],
            parts_of=[sub_list(title, _COLUMNS, rows, title)],
            commands=commands.by_call(
                self.service.config,
                BY_NAME[f"GET {self.prefix}/{{picture}}"],
                list(TITLES)[:1],
                None,
                self.org_id,
            ),
        )


class InstallationPicturesHandler(PicturesHandler):
    """Lists the logos and icons for all organizations without their own."""

    prefix = InstallationPictureHandler.prefix
    path = OF_ALL


ROUTES = [
    (f"{CONSOLE}{PATH}/pictures", PicturesHandler),
    (f"{CONSOLE}{OF_ALL}/pictures", InstallationPicturesHandler),
    (f"{CONSOLE}{PATH}/pictures/([a-z_]+)", ConsolePictureHandler),
    (f"{CONSOLE}{OF_ALL}/pictures/([a-z_]+)", InstallationPictureHandler),
]
