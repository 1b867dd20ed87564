"""/demo: a relying party in the same process that shows the raw HTTP of each of its steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

import msgspec
from msgspec import structs
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest, HTTPResponse
from tornado.web import HTTPError

from handlers.http import browser
from handlers.http.params import FORM_TYPE
from handlers.pages.base import PageHandler
from idp.foundation import base64url
from idp.foundation.i18n import Message, message
from idp.foundation.opaque_tokens import equal
from idp.oauth.endpoints.discovery import PROMPTS
from idp.oauth.params import Params
from idp.oauth.paths import KEYS, TOKEN, USERINFO
from idp.start import demo
from idp.start.demo import DemoClient, DemoExchange, DemoVisitState
from idp.start.demo_setup import CALLBACK, PATH

SIGN_IN: Final = PATH + "/sign-in"
_TOKEN_CHARACTERS: Final = 48


class DemoBase(PageHandler):
    """The base of the demo's pages: its own cookie, and its HTTP requests to the service."""

    async def client(self) -> DemoClient:
        """Returns the demo's registered application. Raises HTTPError 404 if there is none."""
        client = await demo.find_client(self.service)
        if client is None:
            raise HTTPError(404)
        return client

    async def find_visit(self) -> DemoVisitState | None:
        return await demo.find_visit(self.service, self.get_cookie(self.demo_cookie))

    @property
    def demo_cookie(self) -> str:
        return browser.cookie_name(self.service.config, "demo")

    async def call(
        self, kind: str, path: str, headers: Mapping[str, str], form: Mapping[str, str] | None
    ) -> tuple[HTTPResponse, DemoExchange]:
        """Sends one request to the service: a POST of `form`, or a GET without one. Returns the
        response, and the raw texts of both under the name `kind` for the demo's page.

        Raises ValueError if the issuer can't be reached from here, as behind a proxy whose name or
        certificate this machine does not know.
        """
        config = self.service.config
        body = urlencode(form) if form else None
        request_headers = dict(headers) | ({"Content-Type": FORM_TYPE} if form else {})
        request = HTTPRequest(
            config.issuer + path,
            method="POST" if form else "GET",
            headers=request_headers,
            body=body,
            ca_certs=config.tls_cert,
        )
        try:
            response = await AsyncHTTPClient().fetch(request, raise_error=False)
        except (OSError, HTTPClientError) as error:
            raise ValueError(f"{request.url} can't be reached: {error}") from error
        request_line = f"{'POST' if form else 'GET'} {config.issuer}{path} HTTP/1.1"
        return response, DemoExchange(
            kind, _raw(request_line, request_headers, body or ""), _raw_response(response)
        )


def _raw(first_line: str, headers: Mapping[str, str], body: str) -> str:
    lines = [first_line, *(f"{name}: {value}" for name, value in headers.items())]
    return "\n".join(lines) + (f"\n\n{body}" if body else "")


def _raw_response(response: HTTPResponse) -> str:
    status_line = f"HTTP/1.1 {response.code} {response.reason}"
    return _raw(
        status_line, dict(response.headers.get_all()), response.body.decode("utf-8", "replace")
    )


class DemoHandler(DemoBase):
    """The demo application's only page, which shows the requests and responses of this visit."""

    async def get(self) -> None:
        await self.client()
        visit = await self.find_visit() or DemoVisitState(id="")
        self.page(
            "demo",
            sign_in_url=SIGN_IN,
            claims=visit.claims or None,
            userinfo=visit.userinfo or None,
            tokens=[_token_values(name, value) for name, value in visit.tokens.items()],
            can_refresh="refresh_token" in visit.tokens,
            steps=[_step_values(step) for step in visit.steps],
            problems=_problems(visit),
            hidden=[("token", self._token(visit))],
        )

    async def post(self) -> None:
        client, visit, form = await self.client(), await self.find_visit(), self._own_form()
        if visit is None or not equal(self._token(visit), form.get("token") or ""):
            self.redirect_303(PATH)
            return
        if form.get("decision") == "logout":
            await self._log_out(visit)
        else:
            await self._refresh(client, visit)
            self.redirect_303(PATH)

    async def _refresh(self, client: DemoClient, visit: DemoVisitState) -> None:
        headers = {"Authorization": client.basic()}
        try:
            response, step = await self.call("refresh", TOKEN, headers, demo.refresh_form(visit))
        except ValueError as error:
            await demo.store_visit(self.service, structs.replace(visit, problem=str(error)))
            return
        answer = _answer(response)
        refreshed = structs.replace(
            visit,
            steps=[*visit.steps, step],
            tokens=visit.tokens | _tokens(answer),
            problem=str(answer.get("error_description", "")) if response.code != 200 else "",
        )
        await demo.store_visit(self.service, refreshed)

    async def _log_out(self, visit: DemoVisitState) -> None:
        """Ends the demo's own session, then redirects to sign out at the service."""
        location = demo.logout_url(self.service, visit)
        step = DemoExchange("logout", f"GET {location} HTTP/1.1", "303 See Other")
        await demo.store_visit(self.service, DemoVisitState(id=visit.id, steps=[step]))
        self.redirect_303(location)

    def _token(self, visit: DemoVisitState) -> str:
        return base64url.encode(self.service.master_key.mac("demo-form", visit.id))


class DemoSignInHandler(DemoBase):
    """Redirects the browser to the authorization endpoint with a request of the demo."""

    async def get(self) -> None:
        client, visit = await self.client(), await self.find_visit()
        requested = self.query_params().get("prompt") or ""
        prompt = requested if requested in PROMPTS else ""
        begun_visit = demo.begin(self.service, visit, client, prompt)
        await demo.store_visit(self.service, begun_visit, is_new=visit is None)
        header = browser.cookie_header(
            self.service.config, self.demo_cookie, begun_visit.id, max_age=12 * 3600
        )
        self.add_header("Set-Cookie", header)
        self.redirect_303(demo.authorization_url(self.service, begun_visit, client, prompt))


class DemoCallbackHandler(DemoBase):
    """Receives the authorization response, redeems the code and requests the userinfo."""

    async def get(self) -> None:
        client, visit, answer = await self.client(), await self.find_visit(), self.query_params()
        state, issuer = answer.get("state") or "", answer.get("iss") or ""
        # Only a response to a request of this visit is used (RFC 9700 4.7, RFC 9207).
        if visit is None or not demo.is_own_response(self.service, visit, state, issuer):
            self.redirect_303(PATH)
            return
        await demo.store_visit(self.service, await self._receive(client, visit, answer))
        self.redirect_303(PATH)

    async def _receive(
        self, client: DemoClient, visit: DemoVisitState, answer: Params
    ) -> DemoVisitState:
        step = DemoExchange("callback", f"GET {self.request.uri} HTTP/1.1", "")
        # A state is valid for one response only.
        visit = structs.replace(visit, state="", steps=[*visit.steps, step])
        code = answer.get("code")
        if code is None:
            problem = f"{answer.get('error')}: {answer.get('error_description') or ''}"
            return structs.replace(visit, problem=problem)
        try:
            return await self._redeem(client, visit, code)
        except ValueError as error:
            return structs.replace(visit, problem=str(error))

    async def _redeem(
        self, client: DemoClient, visit: DemoVisitState, code: str
    ) -> DemoVisitState:
        form = demo.code_form(self.service, visit, code)
        headers = {"Authorization": client.basic()}
        response, token_step = await self.call("token", TOKEN, headers, form)
        tokens = _tokens(_answer(response))
        if "id_token" not in tokens:
            raise ValueError(f"the token endpoint answered {response.code}")
        keys, keys_step = await self.call("keys", KEYS, {}, None)
        claims = demo.verified_claims(
            self.service, client, tokens["id_token"], keys.body, visit.nonce
        )
        bearer = {"Authorization": f"Bearer {tokens['access_token']}"}
        userinfo, userinfo_step = await self.call("userinfo", USERINFO, bearer, None)
        return structs.replace(
            visit,
            claims=claims,
            userinfo=_answer(userinfo),
            tokens=tokens,
            steps=[*visit.steps, token_step, keys_step, userinfo_step],
        )


_FAILED: Final = message("The last request failed. Its response:", context="demo")
_TITLES: Final = {
    "authorize": message("Authorization request", context="demo"),
    "callback": message("Authorization response", context="demo"),
    "token": message("Token request: the code is redeemed", context="demo"),
    "refresh": message("Token request: the tokens are refreshed", context="demo"),
    "keys": message("Key set: to verify the ID token", context="demo"),
    "userinfo": message("Userinfo request", context="demo"),
    "logout": message("Logout request", context="demo"),
}


def _problems(visit: DemoVisitState) -> list[dict[str, object]]:
    """Returns the last failure: a sentence in the page's language, then the service's own text."""
    texts = [_FAILED, Message(visit.problem)] if visit.problem else []
    return [{"field": None, "text": text} for text in texts]


def _step_values(step: DemoExchange) -> dict[str, object]:
    return {"title": _TITLES[step.kind], "request": step.request, "response": step.response}


def _answer(response: HTTPResponse) -> dict[str, Any]:
    try:
        answer = msgspec.json.decode(response.body)
    except msgspec.DecodeError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _tokens(answer: Mapping[str, Any]) -> dict[str, str]:
    names = ("access_token", "id_token", "refresh_token")
    return {name: str(answer[name]) for name in names if name in answer}


def _token_values(name: str, value: str) -> dict[str, str]:
    kind = "JWT" if value.count(".") == 2 and value.startswith("ey") else "opaque"
    return {"name": name, "kind": kind, "value": value[:_TOKEN_CHARACTERS] + "…"}


ROUTES = [(PATH, DemoHandler), (SIGN_IN, DemoSignInHandler), (CALLBACK, DemoCallbackHandler)]
