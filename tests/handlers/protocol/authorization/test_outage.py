"""What the authorization endpoint answers while the store is away (RFC 6749 4.1.2.1)."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from storage import Unavailable
from tests.support.protocol.noting import settings
from tests.support.protocol.relying_party import without_none
from tests.support.sign_in.steps import Seen
from tests.support.store.stored import everything

__all__ = ["settings"]
PATH = "/oauth/v2/authorize"


@pytest.fixture
def outage(server, monkeypatch):
    """Begins when it is called: from then on nothing of these can be done."""

    def begin(*names):
        async def fail(*_, **__):
            raise Unavailable("no primary")

        for name in names:
            monkeypatch.setattr(type(server.store), name, fail)

    yield begin
    monkeypatch.undo()


@pytest.fixture
def signed_in(io_loop, server, visitor, demo):
    io_loop.run_sync(lambda: demo.tokens(visitor, *server.user))
    visitor.may_fail = True
    return visitor


def link_of(page) -> str:
    """The page's link to the authorization endpoint, which is none for another language."""
    links = [each for each in Seen(page).links if urlsplit(each).path == PATH]
    (link,) = [each for each in links if "lang=" not in each]
    return link


def assert_leads_back(page, url, method="get"):
    """The page says so with a link and a button to the same request, and does nothing itself."""
    seen = Seen(page)
    (form,) = [each for each in seen.all("form") if each.get("action") == PATH]
    fields = [
        (each["name"], each["value"])
        for each in seen.all("input")
        if each.get("type") == "hidden" and each["name"] != "lang"
    ]
    link, sent = link_of(page), parse_qsl(urlsplit(url).query)

    assert (page.status, page.name, page.location) == (503, "error", None)
    assert int(page.headers["Retry-After"]) > 0
    assert "Refresh" not in page.headers
    assert not [each for each in seen.all("meta") if each.get("http-equiv")]
    assert form["method"].lower() == method
    assert fields[: len(sent)] == sent  # then come those of the choice of a language
    assert parse_qsl(urlsplit(link).query) == sent


@pytest.mark.promise("security: outage")
@pytest.mark.parametrize("names", [("commit",), ("get", "get_many", "find", "commit")])
async def test_a_person_sees_a_page_that_leads_to_the_same_request(signed_in, demo, outage, names):
    url = demo.authorize_url()
    outage(*names)
    page = await signed_in.get(url)

    assert_leads_back(page, url)
    assert "form-action" not in page.headers["Content-Security-Policy"]


async def test_a_request_that_came_by_post_is_posted_again(signed_in, demo, outage):
    form = without_none(demo.authorize_form())
    outage("commit")
    page = await signed_in.post(PATH, form)

    assert_leads_back(page, f"{PATH}?{urlencode(form)}", "post")


async def test_the_same_request_is_answered_once_the_store_is_back(
    server, signed_in, demo, monkeypatch
):
    url = demo.authorize_url()

    async def fail(*_, **__):
        raise Unavailable("no primary")

    before = await everything(server.store)
    with monkeypatch.context() as gone:
        gone.setattr(type(server.store), "commit", fail)
        page = await signed_in.get(url)
    assert await everything(server.store) == before
    done = await signed_in.get(link_of(page))

    assert "code" in done.answer


@pytest.mark.promise("security: outage")
async def test_a_program_that_wants_no_page_is_answered(signed_in, demo, outage):
    url = demo.authorize_url(prompt="none")
    outage("commit")
    page = await signed_in.get(url)

    assert page.location.startswith(demo.redirect_uri)
    assert page.answer["error"] == "temporarily_unavailable"
    assert page.answer["state"] == "state-1"


@pytest.mark.promise("security: outage")
async def test_so_is_one_that_has_pushed_its_request_and_may_send_it_again(
    server, signed_in, monkeypatch
):
    client = await server.register("Wiki")
    form = without_none(client.authorize_form(prompt="none"))
    pushed = await signed_in.post("/oauth/v2/par", form, headers=client.basic())
    sent = {"client_id": client.client_id, "request_uri": pushed.json()["request_uri"]}

    async def fail(*_, **__):
        raise Unavailable("no primary")

    with monkeypatch.context() as gone:
        gone.setattr(type(server.store), "commit", fail)
        page = await signed_in.get(f"{PATH}?{urlencode(sent)}")
    again = await signed_in.get(f"{PATH}?{urlencode(sent)}")

    assert page.answer["error"] == "temporarily_unavailable"
    assert "code" in again.answer


async def test_nobody_is_sent_to_an_address_that_could_not_be_checked(signed_in, demo, outage):
    outage("get", "get_many")
    page = await signed_in.get(demo.authorize_url(prompt="none"))

    assert (page.status, page.name, page.location) == (503, "error", None)


@pytest.mark.promise("authorization error: server_error", "security: outage")
async def test_the_token_endpoint_says_server_error(signed_in, demo, outage):
    outage("get_many", "get_following", "commit")
    page = await demo.redeem(signed_in, "a code")

    assert (page.status, page.json()["error"]) == (503, "server_error")
    assert int(page.headers["Retry-After"]) > 0
