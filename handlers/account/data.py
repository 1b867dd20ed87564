"""/ui/account/data: a download of all data stored about the person."""

from __future__ import annotations

from typing import Final

from handlers.account.base import AccountHandler
from handlers.account.sections import SECTIONS
from handlers.forms.cells import action_link
from idp.foundation.i18n import message
from idp.management.users import personal_data

_FLUSHED_BYTES: Final = 64 * 1024
_NAME: Final = "account.json"
DOWNLOAD: Final = f"{SECTIONS['data'].path}/download"


class DataHandler(AccountHandler):
    """Describes the download of the person's data and links to it."""

    section = "data"

    async def show(self, *ids: str) -> None:
        part = {
            "title": None,
            "facts": [],
            "actions": [action_link(message("Download", context="account"), DOWNLOAD)],
        }
        self.page(
            "account/show",
            title_text=SECTIONS[self.section].label,
            intro=message(
                "A file with your profile, your sessions, your applications and what was done to"
                " your account: JSON, which other programs can read.",
                context="account",
            ),
            parts_of=[part],
        )


class AccountDownloadHandler(AccountHandler):
    """Sends the person's data as a JSON file, generated at the speed at which the browser reads
    it."""

    section = "data"
    is_sensitive = True

    async def show(self, *ids: str) -> None:
        self.set_header("Content-Type", "application/json; charset=utf-8")
        self.set_header("Content-Disposition", f'attachment; filename="{_NAME}"')
        waiting = 0
        async for piece in personal_data.pieces(self.service, self.person.subject):
            self.write(piece)
            waiting += len(piece)
            if waiting > _FLUSHED_BYTES:
                await self.flush()
                waiting = 0
        self.finish()


ROUTES = [(SECTIONS["data"].path, DataHandler), (DOWNLOAD, AccountDownloadHandler)]
