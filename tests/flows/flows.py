"""Whole flows, as people and applications go through them. Each is given a place and browsers."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

from tests.support.browsers.visitor import Page, Visitor
from tests.support.protocol.relying_party import VERIFIER, RelyingParty
from tests.support.service import Server
from tests.support.sign_in.registering import PASSWORD, at_code, code_for

NEW_PASSWORD = "seven green kettles hum"

Open = Callable[[Server], Visitor]


def claims(id_token: str) -> dict:
    """What an ID token says; other tests verify its signature."""
    payload = id_token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


async def person(place: Server) -> tuple[str, str]:
    """Somebody who has never signed in: login name and password."""
    return await place.copy_user(f"person-{place.service.random.id().lower()}")


async def family_is_dead(party: RelyingParty, browser: Visitor, tokens: dict) -> bool:
    userinfo = await party.userinfo(browser, tokens["access_token"])
    refused = await party.refresh(browser, tokens["refresh_token"])
    return (userinfo.status, refused.status, refused.json()["error"]) == (
        *(401, 400),
        "invalid_grant",
    )


async def a_confidential_client_signs_in_with_pkce(place: Server, open_browser: Open) -> None:
    party, browser = await place.register(), open_browser(place)
    page = await browser.sign_in(party.authorize_url(), *await person(place))
    wrong = await party.redeem(browser, page.answer["code"], code_verifier="x" * 43)
    tokens = (await party.redeem(browser, page.answer["code"])).json()
    userinfo = (await party.userinfo(browser, tokens["access_token"])).json()
    told = claims(tokens["id_token"])

    assert wrong.json()["error"] == "invalid_grant"
    assert page.answer["state"] == "state-1"
    assert page.answer["iss"] == told["iss"] == place.issuer
    assert (told["aud"], told["nonce"]) == (party.client_id, "nonce-1")
    assert userinfo["sub"] == told["sub"]


async def a_public_client_signs_in_with_pkce(place: Server, open_browser: Open) -> None:
    party, browser = await place.register(auth_method="none"), open_browser(place)
    somebody = await person(place)
    without = await browser.get(
        party.authorize_url(code_challenge=None, code_challenge_method=None)
    )
    tokens = await party.tokens(browser, *somebody)
    refreshed = await party.refresh(browser, tokens["refresh_token"])

    assert without.answer["error"] == "invalid_request"
    assert (await party.userinfo(browser, refreshed.json()["access_token"])).status == 200


async def a_client_sends_its_secret_in_the_form(place: Server, open_browser: Open) -> None:
    party = await place.register(auth_method="client_secret_post")
    browser = open_browser(place)
    page = await browser.sign_in(party.authorize_url(), *await person(place))
    wrong = RelyingParty(party.issuer, party.client_id, "wrong", party.redirect_uri)
    by_header = await party.redeem(browser, page.answer["code"], headers=wrong.basic())
    secret = {"client_id": party.client_id, "client_secret": party.client_secret}
    by_form = await party.redeem(browser, page.answer["code"], headers={}, **secret)

    assert (by_header.status, by_header.json()["error"]) == (401, "invalid_client")
    assert by_form.status == 200, "a refused client has spent nothing"


async def a_refresh_token_is_replaced_each_time(place: Server, open_browser: Open) -> None:
    party, browser = await place.register(), open_browser(place)
    tokens = [await party.tokens(browser, *await person(place))]
    for _ in range(3):
        answer = await party.refresh(browser, tokens[-1]["refresh_token"])
        assert answer.status == 200, answer.text
        tokens.append(answer.json())
    told = [claims(one["id_token"]) for one in tokens]

    assert len({one["refresh_token"] for one in tokens}) == 4
    assert len({(one["sub"], one["auth_time"], one["aud"]) for one in told}) == 1
    assert (await party.userinfo(browser, tokens[-1]["access_token"])).status == 200


async def another_application_knows_the_browser(place: Server, open_browser: Open) -> None:
    one, other, browser = await place.register(), await place.register(), open_browser(place)
    first = claims((await one.tokens(browser, *await person(place)))["id_token"])
    answer = await other.silently(browser)
    second = claims((await other.redeem(browser, answer["code"])).json()["id_token"])

    assert second["aud"] == other.client_id
    assert (second["sub"], second["auth_time"]) == (first["sub"], first["auth_time"])
    assert (await other.silently(open_browser(place)))["error"] == "login_required"


async def prompt_login_asks_for_the_password_again(place: Server, open_browser: Open) -> None:
    party, browser, somebody = await place.register(), open_browser(place), await person(place)
    first = claims((await party.tokens(browser, *somebody))["id_token"])
    page = await browser.open(party.authorize_url(prompt="login"))
    assert "code" not in page.answer
    if page.name == "login-name":
        page = await browser.submit(page, loginName=somebody[0])
    assert page.name == "password"
    page = await browser.submit(page, password=somebody[1])
    second = claims((await party.redeem(browser, page.answer["code"])).json()["id_token"])

    assert second["sub"] == first["sub"]
    assert second["auth_time"] >= first["auth_time"]


async def two_people_share_a_browser(place: Server, open_browser: Open) -> None:
    party, browser = await place.register(), open_browser(place)
    people = [await person(place), await person(place)]
    subs = []
    for prompt, somebody in zip((None, "select_account"), people, strict=True):
        page = await browser.sign_in(party.authorize_url(prompt=prompt), *somebody)
        redeemed = await party.redeem(browser, page.answer["code"])
        subs.append(claims(redeemed.json()["id_token"])["sub"])
    silent = await party.silently(browser)
    page = await browser.open(party.authorize_url())
    sessions = [value for _, value in page.buttons if value not in ("other", "cancel")]
    page = await browser.submit(page, account=sessions[0])
    chosen = claims((await party.redeem(browser, page.answer["code"])).json()["id_token"])

    assert silent["error"] in ("interaction_required", "account_selection_required")
    assert len(sessions) == 2
    assert subs[0] != subs[1]
    assert chosen["sub"] in subs


async def a_logout_with_a_hint_is_done_at_once(place: Server, open_browser: Open) -> None:
    party, browser = place.demo(), open_browser(place)
    tokens = await party.tokens(browser, *await person(place))
    page = await browser.get(party.logout_url(id_token_hint=tokens["id_token"], state="bye"))
    refreshed = await party.refresh(browser, tokens["refresh_token"])

    assert page.location == f"{party.post_logout_redirect_uri}?state=bye"
    assert (await party.silently(browser))["error"] == "login_required"
    assert (await party.userinfo(browser, tokens["access_token"])).status == 401
    assert refreshed.status == 200, "offline access outlives the session"


async def a_logout_without_a_hint_asks(place: Server, open_browser: Open) -> None:
    party, browser = place.demo(), open_browser(place)
    tokens = await party.tokens(browser, *await person(place))
    page: Page = await browser.open("/oidc/v1/end_session")
    assert page.name == "logout-confirm"
    assert "code" in await party.silently(browser), "nothing ends before the word is given"
    page = await browser.submit(page, decision="logout")

    assert page.name == "logged-out"
    assert (await party.silently(browser))["error"] == "login_required"
    assert (await party.userinfo(browser, tokens["access_token"])).status == 401


async def a_replayed_code_ends_its_family(place: Server, open_browser: Open) -> None:
    party, browser = await place.register(), open_browser(place)
    page = await browser.sign_in(party.authorize_url(), *await person(place))
    tokens = (await party.redeem(browser, page.answer["code"])).json()
    assert (await party.userinfo(browser, tokens["access_token"])).status == 200
    replayed = await party.redeem(browser, page.answer["code"])

    assert (replayed.status, replayed.json()["error"]) == (400, "invalid_grant")
    assert await family_is_dead(party, browser, tokens)
    assert "code" in await party.silently(browser), "the session goes on"


async def a_replayed_refresh_token_ends_its_family(place: Server, open_browser: Open) -> None:
    party, browser = await place.register(), open_browser(place)
    old = await party.tokens(browser, *await person(place))
    new = (await party.refresh(browser, old["refresh_token"])).json()
    replayed = await party.refresh(browser, old["refresh_token"])

    assert (replayed.status, replayed.json()["error"]) == (400, "invalid_grant")
    assert await family_is_dead(party, browser, new)
    assert (await party.userinfo(browser, old["access_token"])).status == 401


async def a_wrong_password_is_followed_by_the_right_one(place: Server, open_browser: Open) -> None:
    party, browser, (name, password) = (
        *(await place.register(), open_browser(place)),
        await person(place),
    )
    page = await browser.sign_in(party.authorize_url(), name, "wrong " + password)
    assert (page.status, page.name) == (400, "password")
    assert (await party.silently(browser))["error"] == "login_required"
    page = await browser.submit(page, password=password)

    assert (await party.redeem(browser, page.answer["code"])).status == 200


async def the_first_administrator_chooses_a_password(place: Server, open_browser: Open) -> None:
    party, browser, admin = place.demo(), open_browser(place), place.start.admin
    page = await browser.sign_in(party.authorize_url(), admin.login_name, admin.password)
    assert page.name == "change-password"
    assert (await party.silently(browser))["error"] == "login_required"
    page = await browser.submit(page, newPassword=NEW_PASSWORD)
    assert (await party.redeem(browser, page.answer["code"])).status == 200
    old = await open_browser(place).sign_in(
        party.authorize_url(), admin.login_name, admin.password
    )
    new = await open_browser(place).sign_in(party.authorize_url(), admin.login_name, NEW_PASSWORD)

    assert old.name == "password"
    assert "code" in new.answer


async def an_answer_belongs_to_its_verifier(place: Server, open_browser: Open) -> None:
    """A code that was stolen on its way is of no use without what only its client knows."""
    party, thief = await place.register(), await place.register()
    browser = open_browser(place)
    page = await browser.sign_in(party.authorize_url(), *await person(place))
    code = page.answer["code"]
    stolen = await thief.redeem(browser, code, code_verifier=VERIFIER)
    without = await party.redeem(browser, code, code_verifier=None)

    assert stolen.json()["error"] == "invalid_grant"
    assert without.json()["error"] in ("invalid_grant", "invalid_request")
    assert (await party.redeem(browser, code)).status == 200


async def somebody_opens_an_account(place: Server, open_browser: Open) -> None:
    party, browser = place.demo(), open_browser(place)
    name = f"newcomer-{place.service.random.id().lower()}"
    email = f"{name}@example.org"
    page = await at_code(browser, party, email=email, userName=name)
    wrong = await browser.submit(page, code="1")
    answer = await browser.submit(wrong, code=await code_for(browser, email))
    tokens = (await party.redeem(browser, answer.answer["code"])).json()
    userinfo = (await party.userinfo(browser, tokens["access_token"])).json()
    again = await party.tokens(open_browser(place), email, PASSWORD)

    assert wrong.status == 400
    assert (userinfo["preferred_username"], userinfo["email_verified"]) == (name, True)
    assert claims(again["id_token"])["sub"] == userinfo["sub"]


FLOWS = [
    somebody_opens_an_account,
    a_confidential_client_signs_in_with_pkce,
    a_public_client_signs_in_with_pkce,
    a_client_sends_its_secret_in_the_form,
    a_refresh_token_is_replaced_each_time,
    another_application_knows_the_browser,
    prompt_login_asks_for_the_password_again,
    two_people_share_a_browser,
    a_logout_with_a_hint_is_done_at_once,
    a_logout_without_a_hint_asks,
    a_replayed_code_ends_its_family,
    a_replayed_refresh_token_ends_its_family,
    a_wrong_password_is_followed_by_the_right_one,
    the_first_administrator_chooses_a_password,
    an_answer_belongs_to_its_verifier,
]
