"""A relying party for tests: the requests that an application makes, each part replaceable."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from tests.support.browsers.visitor import Page, Visitor
from tests.support.sign_in.recorded import open_session

VERIFIER = "a-verifier-of-at-least-forty-three-characters-0123456789"
CHALLENGE = (
    base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
)


def without_none(values: dict) -> dict:
    return {name: value for name, value in values.items() if value is not None}


@dataclass
class RelyingParty:
    """A registered client. In every call, a parameter given as None is left out."""

    issuer: str
    client_id: str
    client_secret: str | None
    redirect_uri: str
    post_logout_redirect_uri: str = ""
    scope: str = "openid profile email offline_access"

    def authorize_url(self, **changes) -> str:
        form = self.authorize_form(**changes)
        return f"{self.issuer}/oauth/v2/authorize?{urlencode(form)}"

    def authorize_form(self, **changes) -> dict:
        form = {
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "response_type": "code",
            "scope": self.scope,
            "state": "state-1",
            "nonce": "nonce-1",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
        }
        return without_none(form | changes)

    def basic(self) -> dict:
        """The Authorization header of client_secret_basic."""
        pair = f"{quote(self.client_id, safe='')}:{quote(self.client_secret or '', safe='')}"
        return {"Authorization": "Basic " + base64.b64encode(pair.encode()).decode()}

    async def token(self, visitor: Visitor, form: dict, headers: dict | None = None) -> Page:
        """POST to the token endpoint; a public client names itself in the form."""
        if headers is None:
            headers = self.basic() if self.client_secret else {}
        if self.client_secret is None:
            form = {"client_id": self.client_id} | form
        return await visitor.post("/oauth/v2/token", without_none(form), headers=headers)

    async def redeem(self, visitor: Visitor, code: str, headers=None, **changes) -> Page:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_uri,
            "code_verifier": VERIFIER,
        }
        return await self.token(visitor, form | changes, headers)

    async def refresh(self, visitor: Visitor, refresh_token: str, headers=None, **changes) -> Page:
        form = {"grant_type": "refresh_token", "refresh_token": refresh_token}
        return await self.token(visitor, form | changes, headers)

    async def userinfo(self, visitor: Visitor, access_token: str) -> Page:
        headers = {"Authorization": f"Bearer {access_token}"}
        return await visitor.get("/oidc/v1/userinfo", headers=headers)

    async def sign_in(self, visitor: Visitor, login_name: str, password: str, **changes) -> Page:
        """Returns the redirect that answers an authorization request once the user is signed in.

        Through the pages only where that matters: the records of the sign-in are enough for a
        service in this process and a request that accepts an earlier sign-in.
        """
        url = self.authorize_url(**changes)
        may_be_recorded = visitor.server and not changes.keys() & {"prompt", "max_age"}
        if may_be_recorded and await open_session(visitor.server, visitor, login_name, password):
            page = await visitor.get(url)
            if page.location and not page.location.startswith(f"{self.issuer}/ui/"):
                return page
        return await visitor.sign_in(url, login_name, password)

    async def tokens(self, visitor: Visitor, login_name: str, password: str, **changes) -> dict:
        """Signs in and redeems the code; returns the token response."""
        return await self._redeemed(
            visitor, await self.sign_in(visitor, login_name, password, **changes)
        )

    async def tokens_by_pages(self, visitor: Visitor, login_name: str, password: str) -> dict:
        """Does what `tokens` does, for tests of the sign-in itself."""
        page = await visitor.sign_in(self.authorize_url(), login_name, password)
        return await self._redeemed(visitor, page)

    async def _redeemed(self, visitor: Visitor, page: Page) -> dict:
        redeemed = await self.redeem(visitor, page.answer["code"])
        assert redeemed.status == 200, redeemed.text
        return redeemed.json()

    async def silently(self, visitor: Visitor, **changes) -> dict:
        """Sends a request with prompt=none; returns the parameters of the response."""
        page = await visitor.get(self.authorize_url(**({"prompt": "none"} | changes)))
        assert page.status == 303, page.text
        return page.answer

    def logout_url(self, **changes) -> str:
        form = {"post_logout_redirect_uri": self.post_logout_redirect_uri} | changes
        return f"{self.issuer}/oidc/v1/end_session?{urlencode(without_none(form))}"
