"""Why a page of a sign-in can't continue it."""

from __future__ import annotations

from enum import Enum, auto

from idp.identity.sessions import browsers
from idp.oauth.sign_in import pending
from idp.oauth.sign_in.flow_request import FlowRecords
from idp.records import BROWSERS, AuthRequest
from idp.service import Service


class Ending(Enum):
    """The reason why a page of a sign-in can't continue it: its address names none that is known;
    it belongs to another browser, or to a browser that has lost its cookie; a newer sign-in or
    sign-out of the same browser has given that another cookie; it is finished; its time has
    passed; its application is not active; the form was not made by one of its pages."""

    UNKNOWN = auto()
    OTHER_BROWSER = auto()
    NO_COOKIE = auto()
    REPLACED = auto()
    FINISHED = auto()
    EXPIRED = auto()
    NOT_ACTIVE = auto()
    FOREIGN_FORM = auto()


async def find(service: Service, records: FlowRecords | None, cookie: str | None) -> Ending:
    """Returns why the sign-in with these records, which `pending.flow_of` does not return, can't
    continue in the browser with this cookie."""
    request = records.request if records else None
    if records is None or request is None:
        return Ending.UNKNOWN
    if records.browser is None or records.browser.id != request.agent_id:
        return await _of_browser(service, request, cookie)
    if await pending.is_completed(service, request):
        return Ending.FINISHED
    return Ending.EXPIRED if pending.has_ended(service, request) else Ending.NOT_ACTIVE


async def _of_browser(service: Service, request: AuthRequest, cookie: str | None) -> Ending:
    content = browsers.read(service, cookie)
    if content is None or await service.store.get(BROWSERS, content.id) is None:
        is_new = content is not None and content.made_at is not None
        return Ending.OTHER_BROWSER if is_new else Ending.NO_COOKIE
    return Ending.REPLACED if content.id == request.agent_id else Ending.OTHER_BROWSER
