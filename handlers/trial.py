"""POST /test/clock and /test/reset: only where the service was started with `--test`."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Struct
from tornado.web import HTTPError

from handlers import browser
from handlers.base import ProtocolHandler
from idp import durations, trial
from idp.oauth.errors import InvalidRequest
from storage.codec import instant_text

_EXAMPLE: Final = '{"advance": "61m"}'


class _Advance(Struct, forbid_unknown_fields=True):
    advance: str


class _TrialHandler(ProtocolHandler):
    """Whoever reaches this machine may call it, but no page that a browser on it has open."""

    def admit(self) -> None:
        super().admit()
        if browser.is_cross_site(self.service.config, self.request):
            raise HTTPError(403, "another site's page must not steer the test")


class ClockHandler(_TrialHandler):
    """Sets the clock ahead by a duration: `{"advance": "61m"}`."""

    async def post(self) -> None:
        try:
            sent = msgspec.json.decode(self.body, type=_Advance)
            now = await trial.advance(self.service, durations.parse(sent.advance))
        except (ValueError, trial.TooFar) as error:  # msgspec's errors are ValueErrors
            raise InvalidRequest(f"the body must be like {_EXAMPLE}: {error}") from error
        self.answer({"now": instant_text(now)})


class ResetHandler(_TrialHandler):
    """Makes the store what it was at the start, and the clock the machine's again."""

    async def post(self) -> None:
        await trial.reset(self.service)
        self.answer({})


ROUTES = [("/test/clock", ClockHandler), ("/test/reset", ResetHandler)]
