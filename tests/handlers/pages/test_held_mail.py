"""/dev/mail: what a service that sends no mail would have sent, on its own machine."""

import json
import re

import pytest

from idp.foundation.i18n import load, message
from idp.mail import messages
from idp.mail.messages import MessageCode, MessageLink
from idp.records import OUTBOX
from tests.support.sign_in.registering import ADDRESS, at_code, mails
from tests.support.sign_in.steps import Seen, text_of

KEYS = ["id", "to", "subject", "text", "html", "kind", "userId", "code", "url", "creationDate"]
JSON = {"Accept": "application/json"}


async def post(server, **changes):
    """Put a letter into the outbox."""
    parts = [
        message("Hello."),
        MessageCode("12345678"),
        MessageLink(message("Go:"), f"{server.issuer}/x?a=1&b=2"),
    ]
    values = {"to": ADDRESS, "subject": message("A subject"), "parts": parts} | changes
    letter = messages.write(load("en"), **values)
    await server.store.commit(messages.posting(server.service, "register", letter, org_id=None))
    return letter


async def test_scripts_read_the_mail_as_json(visitor, demo, server):
    await at_code(visitor, demo)
    page = await visitor.get("/dev/mail", headers=JSON)
    (held,) = page.json()["result"]

    assert page.headers["Content-Type"] == "application/json; charset=utf-8"
    assert page.headers["Cache-Control"] == "no-store"
    assert list(held) == KEYS
    assert (held["to"], held["kind"], held["userId"]) == (ADDRESS, "register", "")
    assert re.fullmatch(r"\d{8}", held["code"])
    assert held["url"].endswith(f"&code={held['code']}")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", held["creationDate"])


async def test_what_a_mail_does_not_ask_for_is_left_out(visitor, server):
    await post(server, parts=[message("Hello.")])
    (held,) = await mails(visitor)

    assert list(held) == [key for key in KEYS if key not in ("code", "url")]


async def test_people_read_it_on_a_page(visitor, demo):
    await at_code(visitor, demo)
    page = await visitor.get("/dev/mail", headers={"Accept": "text/html,*/*"})
    (held,) = await mails(visitor)

    assert (page.status, page.name) == (200, "held-mail")
    assert held["code"] in text_of(page)
    assert held["url"] in Seen(page).links


@pytest.mark.parametrize(
    ("accept", "is_json"),
    [
        ("application/json", True),
        ("application/json, text/plain, */*", True),
        ("Application/JSON;q=0.9", True),
        ("text/html,application/json", False),
        ("*/*", False),
        ("", False),
    ],
)
async def test_a_program_gets_json_when_it_asks_for_it(visitor, accept, is_json):
    page = await visitor.get("/dev/mail", headers={"Accept": accept})

    assert page.headers["Content-Type"].startswith("application/json" if is_json else "text/html")


async def test_without_mail_there_is_an_empty_list(visitor):
    page = await visitor.get("/dev/mail")

    assert await mails(visitor) == []
    assert "No email yet." in text_of(page)


async def test_the_newest_come_first_and_the_oldest_are_not_shown(visitor, server):
    for n in range(messages.MAX_LISTED + 5):
        await post(server, to=f"n{n}@example.org")
        server.clock.advance(1)
    shown = [held["to"] for held in await mails(visitor)]

    assert shown == [f"n{n}@example.org" for n in range(messages.MAX_LISTED + 4, 4, -1)]


async def test_a_page_shows_ten_and_the_way_to_the_next(visitor, server):
    for n in range(11):
        server.clock.advance(1)
        await post(server, subject=f"Letter {n}")
    first = Seen(await visitor.get("/dev/mail"))
    (on,) = [link for link in first.links if "after=" in link]
    second = await visitor.get(on)

    assert "Letter 10" in first.text
    assert "Letter 0" not in first.text
    assert text_of(second).count("Letter") == 1
    assert "Letter 0" in text_of(second)


async def test_mail_is_stored_for_a_week(visitor, server):
    await post(server)
    server.clock.advance(7 * 86400 - 1)
    assert len(await mails(visitor)) == 1
    server.clock.advance(1)

    assert await mails(visitor) == []


async def test_a_mail_is_text_and_html_that_say_the_same(server):
    letter = await post(server)

    assert letter.text == f"Hello.\n\n    12345678\n\nGo:\n{server.issuer}/x?a=1&b=2\n"
    assert letter.html.count("12345678") == 1
    assert f'href="{server.issuer}/x?a=1&amp;b=2"' in letter.html


@pytest.mark.parametrize(
    "hostile", ["\r\nBcc: x@y.org", "\n\n<script>", "\0", "\u2028Bcc: x@y.org", "\x85", "<b>&"]
)
async def test_no_value_becomes_a_header_or_markup(visitor, server, hostile):
    text = message("Hello %(name)s.", name=f"x{hostile}y")
    letter = await post(server, to=f"a{hostile}@example.org", subject=text, parts=[text])
    (held,) = await mails(visitor)
    page = await visitor.get("/dev/mail")

    for value in (held["to"], held["subject"], letter.subject):
        assert not re.search("[\x00-\x1f\x7f-\x9f\u2028\u2029]", value)
    assert "<b>&" not in held["html"]
    assert "<script>" not in held["html"]
    assert not [e for e in Seen(page).all("script") if "src" not in e]
    assert Seen(page).all("b") == []


async def test_nothing_of_a_mail_can_be_read_in_the_store(server):
    letter = await post(server)
    stored = repr([each async for each in server.store.scan(OUTBOX)])

    for part in (ADDRESS, letter.subject, "12345678", "/x?a=1"):
        assert part not in stored
    assert repr(letter) == "MailMessage(…)"
    assert json.dumps(letter.text)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
async def test_mail_is_only_read(visitor, method):
    page = await visitor.request(method, "/dev/mail")

    assert (page.status, page.headers["Allow"]) == (405, "GET")


class TestPublicIssuer:
    """Where others could read it, held mail is not shown, and nobody is asked for an address."""

    @pytest.fixture
    def settings(self):
        return {
            "issuer": "https://login.example.com",
            "trusted_proxies": ("127.0.0.1",),
            "self_registration": True,
        }

    @pytest.fixture
    def outside(self, server, new_visitor):
        port = server.service.config.port
        visitor = new_visitor(headers={"Host": "login.example.com"})
        visitor.base = f"http://127.0.0.1:{port}"
        return visitor

    async def test_held_mail_is_not_to_be_had(self, outside, server):
        await post(server)
        for headers in ({}, JSON):
            page = await outside.get("/dev/mail", headers=headers)

            assert page.status == 404
            assert "12345678" not in page.text

    async def test_the_start_names_no_address_for_it(self, server):
        assert server.start.as_json()["mail"] == {"state": "held", "url": None}

    async def test_nobody_is_asked_to_open_an_account(self, outside, server):
        party = await server.register(redirect_uris=["https://app.example.com/cb"])
        query = party.authorize_url(prompt="create").partition("?")[2]
        answer = await outside.get(f"/oauth/v2/authorize?{query}")
        cookie = answer.headers["Set-Cookie"].partition(";")[0]
        address = answer.location.removeprefix(server.issuer)
        sent_on = await outside.get(address, headers={"Cookie": cookie})
        page = await outside.get(
            address.replace("/ui/login?", "/ui/login/register?"), headers={"Cookie": cookie}
        )

        assert "/ui/login/register?" in sent_on.location
        assert (page.status, page.name, page.inputs) == (200, "register", {})
        assert "This service can't send email yet" in text_of(page)
        assert [link for link in Seen(page).links if "/ui/login/name" in link]
