"""The mails that came to somebody during a walk."""

from __future__ import annotations

from idp.mail import messages
from idp.records import OUTBOX

RECENT = 4


async def newest(walk, to):
    """The newest letter to an address that has a code; None when none came lately."""
    service = walk.server.service
    page = await service.store.find(OUTBOX, order="created_at", descending=True, limit=RECENT)
    letters = [messages.opened(service, each) for each in page.records]
    return next((letter for letter in letters if letter.to == to and letter.code), None)
