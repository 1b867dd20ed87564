"""A person's browser without scripts: cookies, single redirects, forms as browsers send them.

Every response is checked, which makes each ordinary test a security test: no internal failure, no
words of a driver or a traceback, and the headers that a page or a protocol response must have.
"""

from __future__ import annotations

import re
import ssl
from dataclasses import dataclass, field
from functools import cache
from html import unescape
from urllib.parse import parse_qsl, urljoin, urlsplit

import httpx

from tests.support.patience import SECONDS

LEAKS = ("Traceback", "pymongo", "sqlite3", "E11000", "ObjectId", "site-packages")


@dataclass
class Page:
    """A response: `name` is its data-page, `hidden` has the hidden inputs of the step's form."""

    url: str
    status: int
    headers: httpx.Headers
    text: str
    name: str | None = None
    hidden: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)
    buttons: list[tuple[str, str]] = field(default_factory=list)

    @property
    def location(self) -> str | None:
        found = self.headers.get("Location")
        return urljoin(self.url, found) if found else None

    @property
    def answer(self) -> dict[str, str]:
        """The parameters of the redirect: of its query and of its fragment."""
        parts = urlsplit(self.location or "")
        return dict(parse_qsl(parts.query) + parse_qsl(parts.fragment))

    def json(self):
        return httpx.Response(200, text=self.text).json()


# The pages are the service's own, so a few patterns read them, ten times as fast as a parser.
_NAME = re.compile(r"<body\b[^>]*?\bdata-page=\"([^\"]*)\"")
_STEP = re.compile(r"<form\b[^>]*?\bid=\"step\"[^>]*>(.*?)</form>", re.DOTALL)
_FIELD = re.compile(r"<(input|button)\b((?:[^>\"]|\"[^\"]*\")*)>")
_ATTRIBUTE = re.compile(r"([\w-]+)(?:=\"([^\"]*)\")?")


def _read_step(page: Page) -> None:
    """Sets what a page of the service says: its name, and the fields of the step's form."""
    if name := _NAME.search(page.text):
        page.name = unescape(name[1])
    for form in _STEP.findall(page.text):
        for tag, attributes in _FIELD.findall(form):
            values = {name: unescape(value) for name, value in _ATTRIBUTE.findall(attributes)}
            if "name" not in values:
                continue
            name, value = values["name"], values.get("value", "")
            if tag == "button":
                page.buttons.append((name, value))
            elif values.get("type") == "hidden":
                page.hidden[name] = value
            else:
                page.inputs[name] = value


@cache
def trusting() -> ssl.SSLContext:
    """The TLS context that httpx would create for each client, which takes longer than a
    request."""
    return httpx.create_ssl_context()


# Pages that other pages of the service show in a frame.
FRAMED = {"console/preview": ("self", "SAMEORIGIN")}


class Visitor:
    """One browser. `base` is the issuer; addresses may be given without it."""

    def __init__(self, base: str, **client) -> None:
        self.base = base
        options = {"follow_redirects": False, "timeout": SECONDS, "verify": trusting()}
        self.http = httpx.AsyncClient(**(options | client))
        self.may_fail = False
        self.server = None  # the fixture of this name, where the service runs in this process

    async def close(self) -> None:
        await self.http.aclose()

    @property
    def cookies(self) -> httpx.Cookies:
        return self.http.cookies

    def receive_cookie(self, header: str) -> None:
        """Keeps a cookie, as if a response had this Set-Cookie header."""
        request = httpx.Request("GET", self.base)
        response = httpx.Response(200, headers={"Set-Cookie": header}, request=request)
        self.cookies.extract_cookies(response)

    async def get(self, url: str, **options) -> Page:
        return self._read(await self.http.get(urljoin(self.base, url), **options))

    async def post(self, url: str, form=None, **options) -> Page:
        return self._read(await self.http.post(urljoin(self.base, url), data=form, **options))

    async def request(self, method: str, url: str, **options) -> Page:
        return self._read(await self.http.request(method, urljoin(self.base, url), **options))

    async def follow(self, page: Page) -> Page:
        """Follows the service's own redirects, until a page or a redirect to another site."""
        while page.location and page.location.startswith(self.base) and page.status in (303, 308):
            if urlsplit(page.location).path in ("/demo/callback", "/cb"):
                break
            page = await self.get(page.location)
        return page

    async def open(self, url: str, **options) -> Page:
        """Sends a GET, then follows redirects."""
        return await self.follow(await self.get(url, **options))

    async def submit(self, page: Page, **fields) -> Page:
        """Sends the step's form with its hidden inputs, then follows redirects."""
        return await self.follow(await self.send(page, **fields))

    async def send(self, page: Page, **fields) -> Page:
        """Sends the step's form with its hidden inputs."""
        return await self.post(page.url, {**page.hidden, **fields})

    async def sign_in(self, url: str, login_name: str, password: str) -> Page:
        """Signs in from an authorization request on; returns the redirect to the client."""
        page = await self.open(url)
        if page.name == "accounts":
            page = await self.submit(page, account="other")
        if page.name == "login-name":
            page = await self.submit(page, loginName=login_name)
        assert page.name == "password", page.text
        return await self.submit(page, password=password)

    def _read(self, response: httpx.Response) -> Page:
        page = Page(str(response.url), response.status_code, response.headers, response.text)
        if "text/html" in response.headers.get("Content-Type", ""):
            _read_step(page)
        self._check(page)
        return page

    def _check(self, page: Page) -> None:
        assert self.may_fail or page.status < 500, page.text
        assert not any(word in page.text for word in LEAKS), page.text
        assert page.headers["X-Content-Type-Options"] == "nosniff"
        assert page.headers["X-Request-Id"]
        if page.name is not None:
            ancestors, option = FRAMED.get(page.name, ("none", "DENY"))
            assert f"frame-ancestors '{ancestors}'" in page.headers["Content-Security-Policy"]
            assert "unsafe" not in page.headers["Content-Security-Policy"]
            assert page.headers["X-Frame-Options"] == option
            assert page.headers["Cache-Control"] == "no-store"
        for cookie in page.headers.get_list("Set-Cookie"):
            assert "HttpOnly" in cookie
            assert "SameSite=Lax" in cookie
            assert "Domain" not in cookie
