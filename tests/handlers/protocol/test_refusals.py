"""What is remembered of refused requests: enough to help, no secret, and never too much."""

from __future__ import annotations

import asyncio
import base64
import dataclasses
from datetime import timedelta

import msgspec
import pytest

from idp.cli.commands import explain
from idp.foundation.errors import NotFound
from idp.oauth.endpoints import refusal_records
from idp.records import REFUSALS
from storage import Unavailable
from tests.handlers.protocol.mistakes.world import AUTHORIZE, END_SESSION, TOKEN, USERINFO, World
from tests.support import patience
from tests.support.browsers.wire import FORM
from tests.support.store.stored import everything, refusals

CANARY = "canary-0123456789-abcdefghijklmnopqrstuvwxyz-0123456789"
SECRETS = [
    "access_token",
    "assertion",
    "client_assertion",
    "client_secret",
    "code",
    "code_verifier",
    "id_token_hint",
    "nonce",
    "password",
    "refresh_token",
    "request",
    "state",
    "subject_token",
    "token",
    "username",
]
HEADERS = {
    "no header": {},
    "bearer": {"Authorization": f"Bearer {CANARY}"},
    "no scheme": {"Authorization": CANARY},
    "basic": {"Authorization": "Basic " + base64.b64encode(f"wiki:{CANARY}".encode()).decode()},
    "basic, not encoded": {"Authorization": f"Basic wiki:{CANARY}"},
}


async def explanation_of(world, page):
    """What `idp explain` prints of the refusal behind this answer."""
    found = await explain.find(world.server.service, page.headers["X-Request-Id"])
    return explain.in_text(found) + explain.in_json(found)


async def refuse(world, **headers):
    """A request that is always refused in the same way."""
    return await world.visitor.post(TOKEN, {"grant_type": "none"}, headers=headers)


class TestSecrets:
    @pytest.mark.full
    @pytest.mark.parametrize("path", [AUTHORIZE, TOKEN, USERINFO, END_SESSION])
    @pytest.mark.parametrize("header", HEADERS)
    async def test_no_secret_parameter_is_stored_or_returned(self, world, path, header):
        headers = HEADERS[header]
        told = []
        for name in SECRETS:
            fields = {"grant_type": "password", "client_id": "wiki", "error": "1", name: CANARY}
            twice = f"{name}={CANARY}&{name}={CANARY}"
            asked = await world.visitor.get(path, params=fields, headers=headers)
            sent = await world.visitor.post(path, fields, headers=headers)
            doubled = await world.visitor.post(
                path, content=twice, headers=headers | {"Content-Type": FORM}
            )
            told += [
                await explanation_of(world, page)
                for page in (asked, sent, doubled)
                if page.status >= 400
            ]
            world.server.clock.advance(10)

        kept = msgspec.json.encode(await refusals(world.server.store)).decode()
        assert len(told) >= len(SECRETS)
        assert CANARY not in kept
        assert not [text for text in told if CANARY in text]
        assert base64.b64encode(f"wiki:{CANARY}".encode()).decode() not in kept

    @pytest.mark.parametrize(
        ("body", "kind"),
        [
            (CANARY, FORM),
            (f'{{"client_secret": "{CANARY}"}}', FORM),
            (f'{{"client_secret": "{CANARY}"}}', "application/json"),
            (f"{CANARY}=x", FORM),
        ],
    )
    async def test_no_secret_in_place_of_a_name_is_stored(self, world, body, kind):
        page = await world.visitor.post(TOKEN, content=body, headers={"Content-Type": kind})

        assert page.status >= 400
        assert CANARY not in await explanation_of(world, page)

    async def test_nothing_that_was_really_issued_is_stored(self, world):
        tokens = await world.tokens()
        code = await world.code()
        for _ in range(2):
            await world.wiki.redeem(world.visitor, code)
            await world.wiki.refresh(world.visitor, tokens["refresh_token"])
            await world.wiki.userinfo(world.visitor, tokens["access_token"][:-1])
            await world.wiki.userinfo(world.visitor, tokens["id_token"])
        kept = msgspec.json.encode(await refusals(world.server.store)).decode()
        issued = [code, world.wiki.client_secret, *world.visitor.cookies.values()]
        issued += [tokens[name] for name in ("access_token", "refresh_token", "id_token")]

        assert len(await refusals(world.server.store)) == 6
        assert not [secret for secret in issued if secret in kept]

    async def test_two_values_can_be_distinguished_and_a_client_secret_can_not_be_guessed(
        self, world
    ):
        pages = [
            await world.wiki.redeem(world.visitor, code, client_secret="a-secret")
            for code in ("c" * 65, "d" * 65, "c" * 65)
        ]
        texts = [await explanation_of(world, page) for page in pages]
        notes = [text.split("code (")[1].split(")")[0] for text in texts]

        assert notes[0] == notes[2] != notes[1]
        assert "client_secret (8 characters)" in texts[0]


class TestTheAnswer:
    @pytest.fixture
    def settings(self):
        return {"issuer": "https://login.example.com", "trusted_proxies": []}

    async def test_a_stranger_sees_nothing_that_only_the_administrator_may_see(
        self, io_loop, server
    ):
        from tests.handlers.login.test_explain_page import Through
        from tests.support.browsers.visitor import Visitor

        visitor = Visitor(server.issuer, transport=Through(server.service.config.port))
        world = await World.make(server, visitor)
        page = await world.authorize(redirect_uri="https://client.example/CB")
        told = await explanation_of(world, page)
        await visitor.close()

        assert page.headers["X-Request-Id"] in page.text
        assert "Uppercase and lowercase letters differ" not in page.text
        assert "Uppercase and lowercase letters differ" in told
        assert "known   https://client.example/cb" in told


class TestTheStore:
    async def test_what_succeeds_leaves_nothing(self, world):
        tokens = await world.tokens()
        await world.wiki.refresh(world.visitor, tokens["refresh_token"])
        await world.wiki.userinfo(world.visitor, tokens["access_token"])
        await world.authorize(prompt="none")
        await world.visitor.get(world.wiki.logout_url(id_token_hint=tokens["id_token"]))

        assert await refusals(world.server.store) == []

    async def test_a_refusal_changes_nothing_else(self, world):
        before = await everything(world.server.store)
        await refuse(world)

        assert await everything(world.server.store) == before
        assert len(await refusals(world.server.store)) == 1

    async def test_refusals_of_one_request_id_are_all_listed_newest_first(self, world):
        header = {"X-Request-Id": "trace-1"}
        for method in ("GET", "PUT", "PATCH"):
            await world.visitor.request(method, TOKEN, headers=header)
            world.server.clock.advance(1)
        found = await explain.find(world.server.service, "trace-1")

        assert [each.method for each in found] == ["PATCH", "PUT", "GET"]
        assert explain.in_text(found).count("\nrequest trace-1\n") == 3

    async def test_a_refusal_is_known_for_a_week(self, world):
        page = await refuse(world)
        world.server.clock.advance(timedelta(days=7, seconds=-1))
        known = await explanation_of(world, page)
        world.server.clock.advance(1)

        assert "The request names no client." in known
        with pytest.raises(NotFound, match="seven days"):
            await explanation_of(world, page)

    async def test_of_a_flood_some_are_stored_and_all_are_answered_alike(self, world):
        answers = [(await refuse(world)).text for _ in range(70)]
        kept_at_once = len(await refusals(world.server.store))
        world.server.clock.advance(60)
        for _ in range(10):
            await refuse(world)

        assert set(answers) == {answers[0]}
        assert kept_at_once == 60
        assert len(await refusals(world.server.store)) == 66

    async def test_a_hundred_long_parameters_are_bounded(self, world):
        pairs = "&".join(f"name_{'a' * (n // 10)}{'b' * (n % 10)}={'v' * 500}" for n in range(99))
        page = await world.visitor.post(
            TOKEN, content=pairs + "&scope=" + "s" * 9000, headers={"Content-Type": FORM}
        )
        (kept,) = await refusals(world.server.store)

        assert page.status == 400
        assert len(msgspec.json.encode(kept)) < 10_000
        assert "and 70 more parameters" in await explanation_of(world, page)


class Broken:
    """A store that can't keep refusals."""

    def __init__(self, store, fail):
        self._store, self._fail = store, fail

    def __getattr__(self, name):
        return getattr(self._store, name)

    async def commit(self, *writes):
        if any(write.collection is REFUSALS for write in writes):
            await self._fail()
        return await self._store.commit(*writes)


class TestAFailingStore:
    async def test_the_answer_is_the_same(self, world):
        async def fail():
            raise Unavailable("no connection")

        before = await refuse(world)
        service = world.server.service
        world.server.app.service = dataclasses.replace(service, store=Broken(service.store, fail))
        after = await refuse(world)
        page = await world.authorize(redirect_uri="https://evil.example/")

        assert (after.status, after.text) == (before.status, before.text)
        assert (page.status, page.name) == (400, "explain")

    async def test_a_store_that_hangs_is_not_waited_for(self, world, monkeypatch):
        async def hang():
            await asyncio.Event().wait()

        monkeypatch.setattr(refusal_records, "_WRITE_SECONDS", 0.01)
        service = world.server.service
        world.server.app.service = dataclasses.replace(service, store=Broken(service.store, hang))
        page = await asyncio.wait_for(refuse(world), patience.SECONDS)

        assert page.status == 400
        assert await refusals(service.store) == []


class TestTheTerminal:
    async def test_what_was_sent_can_not_move_the_cursor_or_turn_the_text(self, world):
        evil = "https://client.example/\x1b[2J\x9b31m\u202e\r\n\x07\x00cb"
        page = await world.visitor.post(
            AUTHORIZE, world.wiki.authorize_form(redirect_uri=evil, scope="\x1b]0;title\x07")
        )
        told = await explanation_of(world, page)
        printed = told.replace("\n", "")

        assert "\\x1b[2J" in told
        assert printed.isprintable()
        assert not [letter for letter in printed if ord(letter) in range(0x202A, 0x202F)]

    async def test_a_terminal_without_unicode_gets_ascii(self, world):
        page = await world.authorize(redirect_uri="https://client.example/café")
        found = await explain.find(world.server.service, page.headers["X-Request-Id"])
        plain, rich = explain.in_text(found, "ascii"), explain.in_text(found, "utf-8")

        assert plain.isascii()
        assert "NOT redirect_uri equals a registered one" in plain
        assert "✗ redirect_uri equals a registered one" in rich
        assert "✓ the parameters can be read" in rich
        assert "caf\\xe9" in plain


class TestASignIn:
    async def test_a_refusal_after_a_post_from_elsewhere_is_known(self, world):
        page = await world.visitor.post(
            AUTHORIZE,
            world.wiki.authorize_form(prompt="none"),
            headers={"Origin": "https://client.example", "Sec-Fetch-Site": "cross-site"},
        )
        page = await world.visitor.follow(page)

        assert page.answer["error"] == "login_required"
        assert "The user is not signed in." in await explanation_of(world, page)

    async def test_another_user_than_the_hinted_one_is_known(self, world, new_visitor):
        hint = (await world.tokens())["id_token"]
        other = await world.server.copy_user("other@localhost")
        url = world.wiki.authorize_url(id_token_hint=hint, prompt="login")
        page = await new_visitor().sign_in(url, *other)

        assert page.answer["error"] == "login_required"
        assert (
            "Another user signed in than the one of id_token_hint or claims."
            in await explanation_of(world, page)
        )


@pytest.mark.parametrize("id", ["", "unknown", "x" * 500, "\0", "../../etc", "é"])
async def test_an_id_that_nobody_has_is_not_found(world, id):
    await refuse(world)

    with pytest.raises(NotFound):
        await explain.find(world.server.service, id)
