"""A request that can't be answered by redirect: what differs, to whom it may be told."""

import os

import pytest

from idp.records import APPLICATIONS
from storage import Update
from tests.support.browsers.https_proxy import Through
from tests.support.sign_in.steps import Seen, leads_on, text_of


def marks_of(page):
    """The highlighted characters, in order."""
    return [part.split("</mark>")[0] for part in page.text.split("<mark>")[1:]]


class TestOnThisMachine:
    @pytest.mark.parametrize(
        ("change", "marked"),
        [
            (lambda uri: uri + "/", ["/", "\u00a0"]),
            (lambda uri: uri + "?x=1", ["?", "\u00a0"]),
            (lambda uri: uri[:-1], ["\u00a0", "k"]),
            (lambda uri: uri.replace("http:", "https:"), ["s", ":"]),
            (lambda uri: uri.replace("/demo", "/Demo"), ["D", "d"]),
        ],
    )
    async def test_the_first_character_that_differs_is_marked(self, visitor, demo, change, marked):
        sent = change(demo.redirect_uri)
        page = await visitor.get(demo.authorize_url(redirect_uri=sent))
        equal = len(os.path.commonprefix([sent, demo.redirect_uri]))

        assert (page.status, page.name) == (400, "explain")
        assert page.location is None
        assert marks_of(page) == marked
        assert f"from character {equal + 1} on" in text_of(page)

    async def test_each_registered_address_is_compared(self, visitor, server):
        party = await server.register(
            redirect_uris=["https://a.example/cb", "https://b.example/cb"]
        )
        page = await visitor.get(party.authorize_url(redirect_uri="https://b.example/CB"))

        assert marks_of(page) == ["b", "a", "C", "c"]
        assert page.headers["X-Request-Id"] in text_of(page)

    @pytest.mark.parametrize(
        ("change", "title"),
        [
            ({"client_id": "unknown"}, "The client_id is unknown"),
            ({"client_id": None}, "The client_id is missing"),
            ({"client_id": "x" * 201}, "The client_id is unknown"),
            ({"client_id": "\0"}, "The client_id is unknown"),
            ({"redirect_uri": None}, "The redirect_uri is missing"),
            ({"redirect_uri": "\0"}, "The redirect_uri is not registered"),
        ],
    )
    async def test_each_mistake_has_its_page(self, visitor, demo, change, title):
        page = await visitor.get(demo.authorize_url(**change))

        assert (page.status, page.name) == (400, "explain")
        assert leads_on(page)
        assert text_of(page).startswith(title)
        assert "What to change" in text_of(page)

    async def test_a_switched_off_application_is_as_an_unknown_one(self, visitor, demo, server):
        switch = Update(APPLICATIONS, demo.client_id, set={"state": "inactive"})
        await server.store.commit(switch)
        page = await visitor.get(demo.authorize_url())
        unknown = await visitor.get(demo.authorize_url(client_id="x" * len(demo.client_id)))
        words = [
            text_of(one).replace(one.headers["X-Request-Id"], "").replace(sent, "")
            for one, sent in [(page, demo.client_id), (unknown, "x" * len(demo.client_id))]
        ]

        assert words[0] == words[1]

    async def test_a_repeated_parameter_is_named(self, visitor, demo):
        page = await visitor.get(demo.authorize_url() + "&state=again")

        assert (page.status, page.name) == (400, "explain")
        assert "state was sent more than once" in text_of(page)

    @pytest.mark.parametrize("query", ["client_id=%ff", "client_id=%", "&".join(["a=b"] * 101)])
    async def test_a_malformed_request_is_a_page_too(self, visitor, query):
        page = await visitor.get(f"/oauth/v2/authorize?{query}")

        assert (page.status, page.name) == (400, "explain")

    async def test_a_posted_request_is_explained_alike(self, visitor, demo):
        form = demo.authorize_form(redirect_uri="https://evil.example/")
        page = await visitor.post("/oauth/v2/authorize", form)

        assert (page.status, page.name) == (400, "explain")
        assert marks_of(page)

    async def test_an_address_after_logout_is_compared_too(self, visitor, demo):
        url = demo.logout_url(
            client_id=demo.client_id, post_logout_redirect_uri=demo.issuer + "/Demo"
        )
        page = await visitor.get(url)

        assert (page.status, page.name) == (400, "explain")
        assert marks_of(page) == ["D", "d"]

    async def test_a_change_of_language_keeps_the_request(self, visitor, demo):
        page = await visitor.get(demo.authorize_url(redirect_uri="https://evil.example/"))
        (link,) = [each["href"] for each in Seen(page).all("a") if each.get("hreflang") == "de"]
        german = await visitor.get("/oauth/v2/authorize" + link)

        assert german.headers["Content-Language"] == "de"
        assert marks_of(german) == marks_of(page)


class TestOnAPublicIssuer:
    @pytest.fixture
    def settings(self):
        return {"issuer": "https://login.example.com"}

    @pytest.fixture
    def visitor(self, new_visitor, server):
        return new_visitor(transport=Through(server.service.config.port))

    @pytest.mark.parametrize(
        "change",
        [{"redirect_uri": "https://evil.example/"}, {"client_id": "unknown"}, {"client_id": None}],
    )
    async def test_only_a_request_id_is_shown(self, visitor, server, change):
        party = await server.register("Inner wiki", redirect_uris=["https://inner.example/cb"])
        page = await visitor.get(party.authorize_url(**change))

        assert (page.status, page.name) == (400, "explain")
        assert leads_on(page)
        assert page.headers["X-Request-Id"] in text_of(page)
        main = page.text.partition("<main")[2].partition("</main>")[0]
        for secret in ("inner.example", "evil.example", "Inner wiki", "redirect_uri", "client_id"):
            assert secret not in main

    async def test_the_details_are_given_for_as_long_as_an_administrator_allows(
        self, visitor, server
    ):
        party = await server.register(redirect_uris=["https://inner.example/cb"])
        url = party.authorize_url(redirect_uri="https://inner.example/CB")
        allowed = server.clock.advance(3600)
        server.clock.advance(-1)
        await server.store.commit(
            Update(APPLICATIONS, party.client_id, set={"explains_until": allowed})
        )
        page = await visitor.get(url)
        server.clock.advance(1)
        late = await visitor.get(url)

        assert marks_of(page) == ["C", "c"]
        assert "inner.example" not in late.text.partition("<main")[2].partition("</main>")[0]

    async def test_the_cookie_is_bound_to_this_host_and_to_https(self, visitor, server):
        party = await server.register(redirect_uris=["https://inner.example/cb"])
        page = await visitor.get(party.authorize_url())
        (cookie,) = page.headers.get_list("Set-Cookie")

        assert cookie.startswith("__Host-idp_agent=")
        assert "; Secure" in cookie
        assert "; Path=/" in cookie
        assert page.headers["Strict-Transport-Security"]

    @pytest.mark.parametrize("path", ["/demo", "/demo/sign-in", "/demo/callback"])
    async def test_there_is_no_demo(self, visitor, path):
        page = await visitor.get(path, headers={"Accept": "text/html"})

        assert page.status == 404
        assert "/demo" not in (await visitor.get("/ui/login")).text

    async def test_the_first_page_leads_on(self, visitor, server):
        party = await server.register(redirect_uris=["https://inner.example/cb"])
        page = await visitor.open(party.authorize_url())

        assert (page.status, page.name) == (200, "login-name")
        assert leads_on(page)
