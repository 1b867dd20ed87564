"""/ui/connection-test: the beginning of a connection's test, for anyone who has the address, and
its end. The result is in the console, for those who manage the connection."""

from __future__ import annotations

from contextlib import suppress
from typing import Final
from urllib.parse import quote

from handlers.http import browser
from handlers.pages.base import ForeignForm, PageHandler
from idp.foundation import uris
from idp.foundation.i18n import message
from idp.limits import requester
from idp.oauth.sign_in import first_party_areas, upstream_test
from idp.records.connection_tests import CONNECTION_TESTS, ConnectionTest
from idp.upstream import attempts, connection_tests
from idp.upstream.attempts import Attempt
from idp.upstream.oidc.answers import UpstreamAnswer
from storage import Stale

_TEST: Final = "test"
_EXPIRED_TEXT: Final = message(
    "This test was already used or has expired. Start another one in the console.",
    context="connection-test",
)


class ConnectionTestHandler(PageHandler):
    """Describes the test; its form redirects to the provider of the connection. Opening the page
    does not use the test up."""

    async def get(self) -> None:
        test = await self._find()
        if test is None or connection_tests.state_of(self.service, test) == "expired":
            await self._refuse()
        elif connection_tests.state_of(self.service, test) == "waiting":
            await self._ask(test)
        else:
            await self._show_end(test)

    async def post(self) -> None:
        # There may be no cookie that a form token could be bound to, so the headers alone decide.
        if browser.may_lack_cookie(self.service.config, self.request):
            raise ForeignForm("the form may have been sent by another site")
        test = await self._find()
        if test is None or connection_tests.state_of(self.service, test) != "waiting":
            await self._refuse()
            return
        requester.current().wait_elsewhere()
        cookie = self.get_cookie(_cookie_name(self))
        try:
            departure = await upstream_test.leave(self.service, test, cookie, self.bundle().tag)
        except Stale:  # another browser has used it up
            departure = None
        if departure is None:
            self.redirect_303(_end_url(test))
            return
        lifetime_seconds = int(attempts.LIFETIME.total_seconds())
        header = browser.cookie_header(
            self.service.config, _cookie_name(self), departure.cookie, max_age=lifetime_seconds
        )
        self.add_header("Set-Cookie", header)
        self.redirect_303(departure.url)

    async def _find(self) -> ConnectionTest | None:
        """Returns the test whose key is in the address; also that whose id is, once it is used
        up."""
        query = self.query_params()
        key, test_id = query.if_once("key"), self.requested_id(_TEST)
        if key is not None:
            return await connection_tests.find(self.service, key)
        test = await self.service.store.get(CONNECTION_TESTS, test_id) if test_id else None
        return test if test is not None and test.answered_at is not None else None

    async def _ask(self, test: ConnectionTest) -> None:
        connection = await upstream_test.connection_of(self.service, test)
        if connection is None:
            await self._refuse()
            return
        await self.show_organization(test.org_id)
        self.let_forms_leave()
        self.page("connection-test", provider=connection.name, result_url=None)

    async def _show_end(self, test: ConnectionTest) -> None:
        await self.show_organization(test.org_id)
        self.page("connection-test", provider="", result_url=_result_url(test))

    async def _refuse(self) -> None:
        await self.show_organization(None)
        self.show_expired(sentence=_EXPIRED_TEXT)


async def finish(handler: PageHandler, attempt: Attempt, answer: UpstreamAnswer) -> bool:
    """Ends the test that an attempt belongs to, and redirects to its page. Returns False if there
    is no such test any more."""
    test = await upstream_test.find(handler.service, attempt)
    if test is None:
        return False
    requester.current().wait_elsewhere()
    with suppress(Stale):  # a repeated answer, or another browser
        await upstream_test.finish_with_answer(handler.service, test, attempt, answer)
    handler.redirect_303(_end_url(test))
    return True


def _end_url(test: ConnectionTest) -> str:
    return uris.with_parameters(connection_tests.PAGE, [(_TEST, test.id)])


def _result_url(test: ConnectionTest) -> str:
    """Returns the address of the result in the console."""
    console, connection_id = first_party_areas.CONSOLE.path, quote(test.connection_id, safe="")
    if test.org_id is None:
        return f"{console}/installation/connections/{connection_id}/tests/{test.id}"
    path = f"{console}/connections/{connection_id}/tests/{test.id}"
    return uris.with_parameters(path, [("org", test.org_id)])


def _cookie_name(handler: PageHandler) -> str:
    return browser.cookie_name(handler.service.config, attempts.COOKIE)


ROUTES: Final = [(connection_tests.PAGE, ConnectionTestHandler)]
