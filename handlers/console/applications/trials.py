"""The console's test of a sign-in to an application: it displays the claims that the application
would receive. No claim is sent to the application."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from handlers.console.applications.actions import PAGE_PATH
from handlers.console.base import ConsoleHandler
from handlers.console.sections import CONSOLE
from handlers.forms import cells
from handlers.forms.cells import labelled_cell
from idp import api
from idp.foundation.errors import NotFound
from idp.foundation.i18n import Message, message
from idp.oauth.endpoints.authorization import AuthorizeRefused
from idp.oauth.errors import OAuthError, UnusableRequest
from idp.oauth.params import Params
from idp.oauth.scopes import OFFLINE_ACCESS
from idp.oauth.sign_in import test_sign_in
from idp.records import APPLICATIONS, Application

_TEST: Final = f"{CONSOLE}{PAGE_PATH}/test"
_RESULT: Final = f"{_TEST}/result"
_CANNOT_SIGN_IN: Final = message(
    "This application can't sign users in yet:", context="test-sign-in"
)


class SignInTestBase(ConsoleHandler):
    """The base of the pages that test the sign-in to one application of the current
    organization."""

    section = "applications"

    async def find_application(self, *ids: str) -> Application:
        """Returns the application to test. Raises NotFound if there is none that signs users
        in."""
        app = (await self.run(api.applications.READ, *ids))["app"]
        application = await self.service.store.get(APPLICATIONS, app["id"])
        if application is None or application.app_type == "api":
            raise NotFound("there is no such application")
        return application


class SignInTestHandler(SignInTestBase):
    """Describes the test of a sign-in. Its form begins a real sign-in, which ends at
    `SignInTestResultHandler`."""

    async def show(self, *ids: str) -> None:
        self._ask(await self.find_application(*ids), ids)

    async def submit(self, form: Params, *ids: str) -> None:
        application = await self.find_application(*ids)
        result_url, user_id = self.url_of(_RESULT, *ids), self.console_session.user.id
        try:
            test = await test_sign_in.begin(
                self.service,
                application.id,
                result_url,
                self.console_session.browser,
                user_id,
                self.origin(),
            )
        except (UnusableRequest, AuthorizeRefused) as refusal:
            self._ask(application, ids, status=400, problems=problem_values(refusal))
            return
        self.set_browser_cookie(test.cookie)
        self.redirect_303(f"/ui/login?flow={test.address}&client_id={application.id}")

    def _ask(self, application: Application, ids: tuple[str, ...], **page_values: Any) -> None:
        self.page(
            "console/test-sign-in",
            about=application.name,
            is_active=application.state == "active",
            back_url=self.url_of(CONSOLE + PAGE_PATH, *ids),
            hidden=self.form_inputs(),
            **page_values,
        )


class SignInTestResultHandler(SignInTestBase):
    """Displays the claims that the application would receive about the signed-in person."""

    async def show(self, *ids: str) -> None:
        application = await self.find_application(*ids)
        problems: list[dict[str, object]] = []
        result = None
        try:
            result = await test_sign_in.released_to(
                self.service, application.id, self.console_session.live_session
            )
        except (UnusableRequest, AuthorizeRefused) as refusal:
            problems = problem_values(refusal)
        self.page(
            "console/test-result",
            about=application.name,
            properties=_properties(result),
            parts=[
                {"title": title, "json": _formatted(claims)}
                for title, claims in _parts(result)
                if claims
            ],
            again_url=self.url_of(_TEST, *ids),
            back_url=self.url_of(CONSOLE + PAGE_PATH, *ids),
            problems=problems,
        )


def _properties(result: test_sign_in.SignInTestResult | None) -> list[dict[str, object]]:
    if result is None:
        return []
    properties = [
        labelled_cell(message("Scopes", context="test-sign-in"), cells.codes(result.scopes))
    ]
    if OFFLINE_ACCESS not in result.scopes:
        properties.append(
            labelled_cell(message("Left out", context="test-sign-in"), cells.text(_NO_REFRESH))
        )
    return properties


def problem_values(refusal: UnusableRequest | AuthorizeRefused) -> list[dict[str, object]]:
    """Returns the template values of the problem because of which the test could not begin: an
    authorization request with the application's settings is refused."""
    error: OAuthError | UnusableRequest = (
        refusal.error if isinstance(refusal, AuthorizeRefused) else refusal
    )
    texts = [_CANNOT_SIGN_IN, Message(error.description)]
    return [{"field": None, "text": text} for text in texts]


def _parts(result: test_sign_in.SignInTestResult | None) -> list[tuple[Message, Any]]:
    if result is None:
        return []
    return [
        (message("In the ID token", context="test-sign-in"), result.id_token),
        (message("From userinfo", context="test-sign-in"), result.userinfo),
        (message("In the access token", context="test-sign-in"), result.access_token),
    ]


def _formatted(claims: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(claims, order="sorted"), indent=2).decode()


_NO_REFRESH: Final = message(
    "offline_access: the application is not registered for refresh tokens.",
    context="test-sign-in",
)
_ADDRESS: Final = f"{CONSOLE}/projects/([^/]+)/applications/([^/]+)/test"
ROUTES = [(_ADDRESS, SignInTestHandler), (f"{_ADDRESS}/result", SignInTestResultHandler)]
