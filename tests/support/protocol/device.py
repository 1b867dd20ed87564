"""A device without a browser of its own: it requests codes, and polls."""

from __future__ import annotations

from dataclasses import dataclass

from tests.support.browsers.visitor import Page, Visitor
from tests.support.protocol.relying_party import RelyingParty, without_none

PATH = "/oauth/v2/device_authorization"
GRANT = "urn:ietf:params:oauth:grant-type:device_code"
GRANTS = ["authorization_code", "refresh_token", GRANT]
LETTERS = "BCDFGHJKLMNPQRSTVWXZ"


@dataclass
class Device:
    """A device of an application, and the response to its last request."""

    party: RelyingParty
    visitor: Visitor
    answer: dict | None = None

    async def ask(self, headers: dict | None = None, **changes) -> Page:
        """The device authorization request; a parameter given as None is left out."""
        form = {"client_id": self.party.client_id, "scope": self.party.scope} | changes
        own = self.party.basic() if self.party.client_secret else {}
        return await self.visitor.post(
            PATH, without_none(form), headers=own if headers is None else headers
        )

    async def begin(self, **changes) -> dict:
        page = await self.ask(**changes)
        assert page.status == 200, page.text
        self.answer = page.json()
        return self.answer

    async def poll(self, headers: dict | None = None, **changes) -> Page:
        form = {"grant_type": GRANT, "device_code": self.answer and self.answer["device_code"]}
        return await self.party.token(self.visitor, form | changes, headers)

    async def tokens(self) -> dict:
        page = await self.poll()
        assert page.status == 200, page.text
        return page.json()


async def type_code(browser: Visitor, user_code: str) -> Page:
    """What follows the user code; the sign-in, unless it is refused."""
    return await browser.submit(await browser.get("/ui/device"), userCode=user_code)


async def at_confirmation(browser: Visitor, user_code: str, user: tuple[str, str]) -> Page:
    """The page that asks whether the device may, for whoever is or is now signed in."""
    page = await type_code(browser, user_code)
    if page.name == "login-name":
        page = await browser.submit(page, loginName=user[0])
        page = await browser.submit(page, password=user[1])
    assert page.name == "device-confirm", page.text
    return page
