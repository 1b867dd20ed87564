"""What a refusal says mends it does mend it, and what it says was told was told."""

from __future__ import annotations

import pytest

from idp.cli.commands import explain
from idp.records import APPLICATIONS
from storage import Update
from tests.handlers.protocol.mistakes.credentials import basic
from tests.handlers.protocol.mistakes.world import AUTHORIZE, TOKEN, USERINFO
from tests.support.sign_in.steps import Seen, text_of


async def known(world, page):
    """The refusal behind this answer."""
    (found,) = await explain.find(world.server.service, page.headers["X-Request-Id"])
    return found


SCOPES = [
    ("openid,profile", "Put one space between two scopes"),
    ("openid%2Bprofile", "Put one space between two scopes"),
    ("openid\tprofile", "Put one space between two scopes"),
    ("profile OpenID", "Write openid in lowercase letters."),
    ("profile", "Add openid to scope."),
]


@pytest.mark.parametrize(("scope", "fix"), SCOPES)
async def test_a_scope_is_mended_where_it_is_wrong(world, scope, fix):
    page = await world.authorize(scope=scope)

    assert page.answer["error"] == "invalid_scope"
    assert (await known(world, page)).fix.startswith(fix)


async def test_a_response_type_is_mended_by_one_that_every_application_may_use(world):
    page = await world.authorize(response_type="id_token", scope="openid")

    assert page.answer["error"] == "unauthorized_client"
    assert (await known(world, page)).fix == "Send response_type=code."


async def test_swapped_credentials_are_to_be_swapped(world):
    headers = basic(world.wiki.client_secret, world.wiki.client_id)
    page = await world.wiki.redeem(world.visitor, "c" * 65, headers=headers)

    assert page.json() == {
        "error": "invalid_client",
        "error_description": "client authentication failed",
    }
    assert (await known(world, page)).fix.startswith("Swap them.")


async def test_a_blank_after_a_client_id_is_pointed_out(world):
    page = await world.authorize(client_id=f"{world.wiki.client_id} ")
    (sent,) = [each for each in (await known(world, page)).sent if each.name == "client_id"]

    assert sent.note == "23 characters, with a space or a line break at an end"
    assert "There is a space or a line break before or after the client_id." in text_of(page)


class TestWhatWasTold:
    async def test_a_client_learns_that_it_used_a_wrong_method(self, world):
        page = await world.visitor.get(TOKEN)

        assert page.status == 405
        assert page.json()["error_description"] == (await known(world, page)).told
        assert (await known(world, page)).told == "the method is not allowed"

    async def test_a_refusal_that_is_a_page_is_recorded_without_a_message(self, world):
        page = await world.visitor.request("PUT", AUTHORIZE)
        found = await known(world, page)

        assert (page.status, page.name) == (405, "error")
        assert (found.told, found.sentence) == (
            "",
            "The request came by PUT; this endpoint takes GET or POST.",
        )

    async def test_who_sent_no_token_was_challenged_without_an_error(self, world):
        page = await world.visitor.get(USERINFO)
        found = await known(world, page)

        assert (page.status, page.json()) == (401, {"error": found.error})
        assert page.headers["WWW-Authenticate"] == 'Bearer realm="idp"'
        assert found.told == ""
        assert "the challenge names no error" in found.sentence


class TestThePage:
    async def test_what_can_not_be_seen_is_written_out(self, world):
        evil = "https://client.example/\x1b[2J\u202ecb\u2066"
        page = await world.authorize(redirect_uri=evil)

        assert page.name == "explain"
        assert "https://client.example/\\x1b[2J\\u202ecb\\u2066" in text_of(page)
        assert not [letter for letter in text_of(page) if letter in "\x1b\u202e\u2066"]

    async def test_a_client_id_that_nobody_has_is_written_out_too(self, world):
        page = await world.authorize(client_id="a\x1b\u202eb")

        assert "a\\x1b\\u202eb" in text_of(page)
        assert not [letter for letter in text_of(page) if letter in "\x1b\u202e"]

    async def test_a_citation_is_read_from_left_to_right_in_every_language(self, world):
        url = world.wiki.authorize_url(redirect_uri="https://evil.example/")
        page = await world.visitor.get(f"{url}&lang=ar")

        assert Seen(page).all("html")[0]["dir"] == "rtl"
        assert '<bdi dir="ltr">(RFC 6749, 3.1.2.3)</bdi>' in page.text


async def test_a_scope_that_is_left_out_is_reported_with_the_reason(world):
    alone = {"grant_types": ["authorization_code"]}
    await world.server.store.commit(Update(APPLICATIONS, world.wiki.client_id, set=alone))

    page = await world.authorize(scope="openid offline_access", prompt="none")

    told = (await known(world, page)).sentence
    assert "The scope offline_access is left out" in told
    assert "not registered for refresh tokens" in told


async def test_a_scope_that_is_granted_is_not_reported(world):
    refreshing = {"grant_types": ["authorization_code", "refresh_token"]}
    await world.server.store.commit(Update(APPLICATIONS, world.wiki.client_id, set=refreshing))

    page = await world.authorize(scope="openid offline_access", prompt="none")

    assert "offline_access is left out" not in (await known(world, page)).sentence
