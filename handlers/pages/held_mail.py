"""/dev/mail: the messages that are held because no mail server is set up, for development."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlencode

from handlers.pages.base import PageHandler
from idp.mail import messages
from idp.mail.messages import HeldMessage

ON_A_PAGE: Final = 10  # messages of about 1.5 kB each


class HeldMailHandler(PageHandler):
    """Lists the held messages, the newest first: as HTML pages or, for a client that accepts only
    JSON, as JSON."""

    async def get(self) -> None:
        held = await messages.held(self.service)
        if self._wants_json():
            self.set_header("Content-Type", "application/json; charset=utf-8")
            self.set_header("Vary", "Accept")
            self.finish(json.dumps({"result": [_as_json(one) for one in held]}))
        else:
            self._show(held)

    def _show(self, held: Sequence[HeldMessage]) -> None:
        """Shows the messages that follow the one named in the address, or the newest."""
        after = self.query_params().get("after")
        ids = [one.id for one in held]
        start = ids.index(after) + 1 if after in ids else 0
        on_page, following = held[start : start + ON_A_PAGE], held[start + ON_A_PAGE :]
        self.page(
            "held-mail",
            mails=[_template_values(one) for one in on_page],
            first_url=messages.PAGE if start else None,
            next_url=f"{messages.PAGE}?{urlencode({'after': on_page[-1].id})}"
            if following
            else None,
        )

    def _wants_json(self) -> bool:
        accepted = self.request.headers.get("Accept", "").lower()
        return "application/json" in accepted and "text/html" not in accepted


def _as_json(one: HeldMessage) -> dict[str, Any]:
    sent = one.mail_message
    optional = {"code": sent.code, "url": sent.url}
    return {
        "id": one.id,
        "to": sent.to,
        "subject": sent.subject,
        "text": sent.text,
        "html": sent.html,
        "kind": one.kind,
        "userId": one.user_id or "",
        **{name: value for name, value in optional.items() if value is not None},
        "creationDate": one.created_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }


def _template_values(one: HeldMessage) -> dict[str, Any]:
    sent = one.mail_message
    return {
        "to": sent.to,
        "subject": sent.subject,
        "text": sent.text,
        "url": sent.url,
        "time": one.created_at.isoformat(timespec="seconds"),
    }


ROUTES = [(messages.PAGE, HeldMailHandler)]
