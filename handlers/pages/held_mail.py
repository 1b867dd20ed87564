"""/dev/mail: the messages that are held because no mail server is set up, for development."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlencode

from handlers.pages.base import PageHandler
from idp.mail import branding, html, messages
from idp.mail.messages import HeldMessage

PAGE_SIZE: Final = 10  # messages of about 1.5 kB each


class HeldMailHandler(PageHandler):
    """Lists the held messages, the newest first: as HTML pages or, for a client that accepts only
    JSON, as JSON."""

    async def get(self) -> None:
        held_messages = await messages.held(self.service)
        if self._accepts_only_json():
            self.set_header("Content-Type", "application/json; charset=utf-8")
            self.set_header("Vary", "Accept")
            self.finish(
                json.dumps({"result": [await self._as_json(mail) for mail in held_messages]})
            )
        else:
            self._show(held_messages)

    def _show(self, held_messages: Sequence[HeldMessage]) -> None:
        """Displays the messages that follow the one named in the address, or the newest."""
        last_id = self.query_params().get("after")
        ids = [mail.id for mail in held_messages]
        start = ids.index(last_id) + 1 if last_id in ids else 0
        on_page, following = (
            held_messages[start : start + PAGE_SIZE],
            held_messages[start + PAGE_SIZE :],
        )
        self.page(
            "held-mail",
            mails=[_template_values(mail) for mail in on_page],
            first_url=messages.PAGE if start else None,
            next_url=f"{messages.PAGE}?{urlencode({'after': on_page[-1].id})}"
            if following
            else None,
        )

    def _accepts_only_json(self) -> bool:
        accepted = self.request.headers.get("Accept", "").lower()
        return "application/json" in accepted and "text/html" not in accepted

    async def _as_json(self, mail: HeldMessage) -> dict[str, Any]:
        mail_message = mail.mail_message
        mail_branding = await branding.find(self.service, mail_message.org_id)
        optional = {"code": mail_message.code, "url": mail_message.url}
        return {
            "id": mail.id,
            "to": mail_message.to,
            "subject": mail_message.subject,
            "text": mail_message.text,
            "html": html.rendered(mail_message, mail_branding, html.data_url(mail_branding.logo)),
            "kind": mail.kind,
            "userId": mail.user_id or "",
            **{name: value for name, value in optional.items() if value is not None},
            "creationDate": mail.created_at.isoformat(timespec="milliseconds").replace(
                "+00:00", "Z"
            ),
        }


def _template_values(mail: HeldMessage) -> dict[str, Any]:
    mail_message = mail.mail_message
    return {
        "to": mail_message.to,
        "subject": mail_message.subject,
        "text": mail_message.text,
        "url": mail_message.url,
        "time": mail.created_at.isoformat(timespec="seconds"),
    }


ROUTES = [(messages.PAGE, HeldMailHandler)]
