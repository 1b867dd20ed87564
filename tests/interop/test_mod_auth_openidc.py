"""mod_auth_openidc (Apache) as a relying party and as a resource server."""

from __future__ import annotations

import asyncio
from urllib.parse import quote

import httpx
import pytest

from tests.interop import apache
from tests.interop.apache import Apache, NoApache, PortTaken
from tests.support import patience
from tests.support.skips import skip

TRIES = 5
PAGE = "/private/page.txt"


@pytest.fixture
def new_site(io_loop, place):
    """Makes a site: Apache, registered as an application, and a browser at it."""
    opened = []

    async def make(response_mode="query", *, hears_of_logouts=False):
        for _ in range(TRIES):
            opened.append(Site(place, Apache(apache.find())))
            try:
                await opened[-1].begin(response_mode, hears_of_logouts=hears_of_logouts)
                return opened[-1]
            except PortTaken:
                continue
        raise AssertionError("no port is free for long")

    try:
        apache.find()
    except NoApache as error:
        skip(error)
    yield make
    for site in opened:
        io_loop.run_sync(site.end)


class Site:
    """The site, and somebody's browser as far as it is there."""

    def __init__(self, place, server):
        self.place, self.server = place, server
        self.http = httpx.AsyncClient(base_url=server.base, timeout=patience.SECONDS)
        self.goodbye = f"{server.base}/goodbye"

    async def begin(self, response_mode, *, hears_of_logouts):
        heard = f"{self.server.redirect_uri}?logout=backchannel" if hears_of_logouts else None
        self.party = await self.place.register(
            redirect_uris=[self.server.redirect_uri],
            post_logout_redirect_uris=[self.goodbye],
            back_channel_logout_uri=heard,
        )
        self.server.start(
            issuer=self.place.issuer,
            client_id=self.party.client_id,
            client_secret=self.party.client_secret,
            passphrase="only for tests",
            response_mode=response_mode,
        )

    async def end(self):
        await self.http.aclose()
        self.server.close()

    async def get(self, path, **options):
        return await self.http.get(path, **options)

    async def told(self):
        """The tokens and claims that the site has of whoever is signed in."""
        answer = await self.get("/private/callback", params={"info": "json"})
        return answer.raise_for_status().json()

    async def asks_to_sign_in(self):
        """Whether the page is closed to this browser."""
        answer = await self.get(PAGE)
        assert answer.status_code in (200, 302), answer.text
        return answer.status_code == 302

    async def sign_in(self, browser):
        """Through the service's pages, from the site's page and back to it."""
        sent = await self.get(PAGE)
        assert sent.status_code == 302, self.server.log
        page = await browser.sign_in(sent.headers["Location"], *self.place.user)
        back = await self._deliver(page)
        assert (back.status_code, back.headers["Location"]) == (302, self.server.base + PAGE), (
            self.server.log
        )

    async def _deliver(self, page):
        if page.location:
            return await self.get(page.location)
        return await self.http.post(self.server.redirect_uri, data=page.hidden)


async def test_mod_auth_openidc_signs_in_refreshes_and_signs_out(new_site, open_browser, place):
    site, browser = await new_site(), open_browser(place)
    assert await site.asks_to_sign_in()
    await site.sign_in(browser)
    page, told = await site.get(PAGE), await site.told()
    refreshing = {"refresh": site.server.base + PAGE, "access_token": told["access_token"]}
    refreshed = await site.get("/private/callback", params=refreshing)
    renewed = await site.told()
    out = await site.get(f"/private/callback?logout={quote(site.goodbye, safe='')}")
    left = await browser.get(out.headers["Location"])

    assert page.text == "the private page"
    assert told["userinfo"]["email"] == "dana@example.com"
    assert told["id_token"]["sub"] == told["userinfo"]["sub"]
    assert refreshed.headers["Location"] == site.server.base + PAGE
    assert renewed["access_token"] != told["access_token"]
    assert renewed["refresh_token"] != told["refresh_token"]
    assert left.location == site.goodbye
    assert await site.asks_to_sign_in()
    assert (await site.party.userinfo(browser, renewed["access_token"])).status == 401


async def test_mod_auth_openidc_reads_an_answer_that_the_browser_posts(
    new_site, open_browser, place
):
    site = await new_site("form_post")
    await site.sign_in(open_browser(place))

    assert (await site.get(PAGE)).text == "the private page"
    assert (await site.told())["userinfo"]["email"] == "dana@example.com"


async def test_mod_auth_openidc_lets_in_a_client_that_has_a_token(new_site, open_browser, place):
    site, browser = await new_site(), open_browser(place)
    page = await browser.sign_in(site.party.authorize_url(), *place.user)
    tokens = (await site.party.redeem(browser, page.answer["code"])).json()
    answers = {
        token: await site.get("/api/page.txt", headers={"Authorization": f"Bearer {token}"})
        for token in (tokens["access_token"], tokens["access_token"] + "x", "nothing")
    }

    assert [answer.status_code for answer in answers.values()] == [200, 401, 401], site.server.log
    assert answers[tokens["access_token"]].text == "the api page"


async def test_mod_auth_openidc_ends_the_session_that_was_ended_elsewhere(
    new_site, open_browser, place
):
    site, browser = await new_site(hears_of_logouts=True), open_browser(place)
    await site.sign_in(browser)
    elsewhere = await place.register(post_logout_redirect_uris=[f"{place.issuer}/goodbye"])
    page = await browser.get(elsewhere.authorize_url())
    tokens = (await elsewhere.redeem(browser, page.answer["code"])).json()
    was_open = not await site.asks_to_sign_in()
    await browser.get(elsewhere.logout_url(id_token_hint=tokens["id_token"]))
    for _ in range(200):
        if is_closed := await site.asks_to_sign_in():
            break
        await asyncio.sleep(0.05)

    assert was_open
    assert is_closed, site.server.log
