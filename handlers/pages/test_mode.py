"""POST /test/clock and /test/reset, available only if the service was started with `--test`."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Final

from tornado.web import HTTPError

from handlers.http import browser
from handlers.http.base import ProtocolHandler
from idp import test_mode
from idp.foundation import strict_json
from idp.foundation.errors import InvalidArgument
from idp.oauth.errors import InvalidRequest
from idp.schema import reading
from idp.schema.field_rules import Duration
from idp.schema.reading import Request
from storage.codec import instant_text

_EXAMPLE: Final = '{"advance": "61m"}'


class Advance(Request, frozen=True, kw_only=True):
    advance: Annotated[timedelta, Duration()]


class _TestModeHandler(ProtocolHandler):
    """A test endpoint. Any program may call it, but no page of another site."""

    def admit(self) -> None:
        super().admit()
        if browser.is_cross_site(self.service.config, self.request):
            raise HTTPError(403, "another site's page must not steer the test")


class ClockHandler(_TestModeHandler):
    """Advances the clock by a duration: `{"advance": "61m"}`."""

    async def post(self) -> None:
        try:
            request = reading.read(Advance, strict_json.decode(self.body))
            now = await test_mode.advance(self.service, request.advance)
        except (InvalidArgument, test_mode.TooFar) as error:
            raise InvalidRequest(f"the body must be like {_EXAMPLE}: {error}") from error
        self.answer({"now": instant_text(now)})


class TestModeResetHandler(_TestModeHandler):
    """Restores the store to its initial state, and the clock to the system's time."""

    async def post(self) -> None:
        await test_mode.reset(self.service)
        self.answer({})


ROUTES = [("/test/clock", ClockHandler), ("/test/reset", TestModeResetHandler)]
