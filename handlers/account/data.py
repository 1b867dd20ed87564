"""/ui/account/data: a download of all data stored about the person."""

from __future__ import annotations

from typing import Final

from handlers.account.base import AccountHandler
from handlers.account.sections import SECTIONS
from handlers.forms.cells import action_link
from handlers.http import response_parts
from idp.foundation.i18n import message
from idp.management.users import personal_data

_NAME: Final = "account.json"
DOWNLOAD: Final = f"{SECTIONS['data'].path}/download"


class DataHandler(AccountHandler):
    """Describes the download of the person's data and links to it."""

    section = "data"

    async def show(self, *ids: str) -> None:
        part = {
            "title": None,
            "properties": [],
            "actions": [action_link(message("Download", context="account"), DOWNLOAD)],
        }
        self.page(
            "account/show",
            title_text=SECTIONS[self.section].label,
            intro=message(
                "A JSON file with your profile, sessions, applications and the history of"
                " your account.",
                context="account",
            ),
            page_parts=[part],
        )


class AccountDownloadHandler(AccountHandler):
    """Sends the person's data as a JSON file, generated at the speed at which the browser reads
    it."""

    section = "data"
    is_sensitive = True

    async def show(self, *ids: str) -> None:
        self.set_header("Content-Type", "application/json; charset=utf-8")
        self.set_header("Content-Disposition", f'attachment; filename="{_NAME}"')
        unsent_bytes = 0
        async for chunk in personal_data.document_chunks(self.service, self.person.subject):
            self.write(chunk)
            unsent_bytes += len(chunk)
            if unsent_bytes > response_parts.PART_BYTES:
                await response_parts.send_written(self)
                unsent_bytes = 0
        self.finish()


ROUTES = [(SECTIONS["data"].path, DataHandler), (DOWNLOAD, AccountDownloadHandler)]
