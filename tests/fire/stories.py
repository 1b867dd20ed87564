"""What people and applications do, request by request, and what each is told who repeats one.

A request that was not done is answered as if nothing had been. Of those that had been done before
the answer was lost, a form leads on as it did the first time, and changes nothing more; tokens are
issued once, and a story says how `Run.was_done` changes the answer.
"""

from __future__ import annotations

from urllib.parse import urlencode

from idp.foundation import opaque_tokens
from idp.records import AUTHORIZATIONS, CONSENTS, LOGOUT_MESSAGES
from tests.fire import (
    connecting,
    devices,
    factors,
    granting,
    managing,
    notes,
    passkeys,
    resets,
)
from tests.fire.run import Run
from tests.flows.flows import NEW_PASSWORD
from tests.support.browsers.visitor import Page
from tests.support.protocol.relying_party import RelyingParty
from tests.support.sign_in.registering import FIELDS, mails

NOBODY = "http://localhost:9/logout"  # no port of a web server: it is not called


def refused(answer: Page) -> bool:
    return (answer.status, answer.json()["error"]) == (400, "invalid_grant")


async def a_sign_in_lasts_until_the_logout(run: Run) -> None:
    """The main job, and a logout by the application's word."""
    party = await registered(run)
    name, password = await run.person()
    page = await at_password(run, party, name)
    page = await signed_in(run, page, name, password=password)
    code = await code_of(run, party, page)
    tokens = await redeemed(run, party, code)
    tokens = await refreshed(run, party, tokens)

    page = await run.get(party.logout_url(id_token_hint=tokens["id_token"], state="bye"))
    if page.location.startswith(run.place.issuer + "/ui/logout"):
        assert run.was_done, "the browser has lost what it was known by"
        page = await run.get(page.location)
    run.is_safe_from_here()
    assert page.location == f"{party.post_logout_redirect_uri}?state=bye"
    await is_over(run, party, tokens)


async def a_mistyped_password_and_a_logout_by_hand(run: Run) -> None:
    """Tries are counted, and forgotten; the person is asked before they are signed out."""
    run.is_safe_from_here()
    party = await registered(run, front_channel_logout_uri=NOBODY)
    name, password = await run.person()
    page = await at_password(run, party, name)
    run.is_in_danger_from_here()
    page = await run.submit(page, password="wrong " + password)
    assert (page.status, page.name) == (400, "password")
    page = await signed_in(run, page, name, password=password)
    code = await code_of(run, party, page)
    tokens = await redeemed(run, party, code)

    page = await run.get("/oidc/v1/end_session")
    page = await run.get(page.location)
    assert page.name == "logout-confirm"
    page = await run.submit(page, decision="logout")
    run.is_safe_from_here()
    page = await run.browser.follow(page)
    assert (page.name, page.text.count("<iframe")) == ("logged-out", 1)
    await is_over(run, party, tokens)


async def a_one_time_password_is_replaced_in_a_sign_in(run: Run) -> None:
    """As the first administrator does it."""
    party = await registered(run)
    name, password = await newcomer(run)
    page = await at_password(run, party, name)
    page = await run.submit(page, password=password)
    page = await run.get(page.location)
    page = await run.get(page.location)
    assert page.name == "change-password"
    page = await signed_in(run, page, name, newPassword=NEW_PASSWORD)
    run.is_safe_from_here()
    await redeemed(run, party, await code_of(run, party, page))
    old = await run.browser.sign_in(party.authorize_url(prompt="login"), name, password)

    assert (old.status, old.name) == (400, "password")


async def a_set_up_link_is_used(run: Run) -> None:
    """A one-time password is replaced without an application, and opens one session."""
    party = await registered(run)
    name, password = await newcomer(run)
    page = await run.get("/ui/setup")
    fields = {"loginName": name, "password": password, "newPassword": NEW_PASSWORD}
    page = await signed_in(run, page, name, **fields)
    run.is_safe_from_here()
    assert page.location == run.place.issuer + "/ui/login"
    await redeemed(run, party, await run.new_code(party))
    page = await run.browser.submit(await run.browser.get("/ui/setup"), **fields)

    assert (page.status, page.name) == (400, "setup")


async def an_account_is_opened(run: Run) -> None:
    """Registration, its mail, and the sign-in that comes of it."""
    party, email = await registered(run), f"{run.place.service.random.id().lower()}@example.org"
    page = await run.get(party.authorize_url(prompt="create"))
    page = await run.browser.follow(page)
    assert page.name == "register", page.text
    typed = FIELDS | {"email": email}
    run.keep(typed["newPassword"])
    page = await run.submit(page, **typed)
    page = await run.get(page.location)
    assert page.name == "verify-email"
    (mail,) = await mails(run.browser, email)
    page = await signed_in(run, page, email, code=mail["code"])
    code = await code_of(run, party, page)
    run.is_safe_from_here()
    await redeemed(run, party, code)
    page = await run.browser.sign_in(
        party.authorize_url(prompt="login"), email, typed["newPassword"]
    )
    assert "code" in page.answer
    assert len(await mails(run.browser, email)) == 1


async def an_application_is_owed_the_news_of_a_logout(run: Run) -> None:
    """A message is there once the session has ended, and no sooner; one, whatever happens."""
    party = await registered(run, back_channel_logout_uri=NOBODY, front_channel_logout_uri=NOBODY)
    name, password = await run.person()
    page = await at_password(run, party, name)
    page = await signed_in(run, page, name, password=password)
    tokens = await redeemed(run, party, await code_of(run, party, page))
    assert await run.stored(LOGOUT_MESSAGES, party) == 0

    page = await run.get(party.logout_url(id_token_hint=tokens["id_token"]))
    if run.was_done:  # the sessions have ended, so no page has anything left to call
        assert page.location == party.post_logout_redirect_uri
    else:
        assert page.location.startswith(run.place.issuer + "/ui/logged-out?request=")
    run.is_safe_from_here()
    await is_over(run, party, tokens)
    assert await run.stored(LOGOUT_MESSAGES, party) == 1


async def an_application_of_others_is_let_in(run: Run) -> None:
    """It pushes its request; the person allows it, and is not asked twice."""
    party = await registered(run, is_third_party=True)
    name, password = await run.person()
    page = await at_password(run, party, name)
    page = await signed_in(run, page, name, password=password)
    page = await run.get(page.location)
    page = await run.get(page.location)
    assert page.name == "consent"
    page = await run.submit(page, decision="allow")
    if not run.was_done:  # what is repeated is answered at once
        page = await run.get(page.location)
    run.keep(page.answer["code"])
    assert await run.stored(AUTHORIZATIONS, party) == await run.stored(CONSENTS, party) == 1

    page = await brought(run, party)
    run.is_safe_from_here()
    assert "code" in page.answer
    assert "code" in await party.silently(run.browser)


async def brought(run: Run, party: RelyingParty) -> Page:
    """The answer to a pushed request. A reference is spent when its answer was lost: whoever did
    not get it asks the application again, which pushes anew."""
    page = await run.get(await pushed(run, party))
    if page.name == "explain":
        assert run.was_interrupted
        page = await run.get(await pushed(run, party))
    return page


async def pushed(run: Run, party: RelyingParty) -> str:
    form = party.authorize_form()
    answer = await run.browser.post("/oauth/v2/par", form, headers=party.basic())
    reference = answer.json()["request_uri"]
    run.keep(reference.rpartition(":")[2])
    about = {"client_id": party.client_id, "request_uri": reference}
    return f"/oauth/v2/authorize?{urlencode(about)}"


STORIES = [
    notes.a_note_becomes_one_sign_in,
    notes.a_pushed_request_is_answered_once,
    granting.a_project_is_granted,
    granting.a_project_grant_is_taken_back,
    an_application_of_others_is_let_in,
    managing.a_script_registers_what_it_needs,
    managing.an_application_is_changed,
    managing.a_person_is_changed_and_deleted,
    devices.a_device_is_let_in,
    connecting.a_person_comes_from_another_provider,
    resets.a_forgotten_password_is_replaced,
    resets.a_reset_link_is_used,
    factors.a_second_factor_is_set_up_and_asked_for,
    passkeys.a_passkey_is_made,
    passkeys.a_passkey_signs_in,
    an_application_is_owed_the_news_of_a_logout,
    a_sign_in_lasts_until_the_logout,
    a_mistyped_password_and_a_logout_by_hand,
    a_one_time_password_is_replaced_in_a_sign_in,
    a_set_up_link_is_used,
    an_account_is_opened,
]


# Steps


async def registered(run: Run, **changes: str) -> RelyingParty:
    goodbye = f"{run.place.issuer}/goodbye"
    party = await run.place.register(post_logout_redirect_uris=[goodbye], **changes)
    run.keep(party.client_secret)
    return party


async def newcomer(run: Run) -> tuple[str, str]:
    """Somebody with the first administrator's one-time password."""
    admin = run.place.start.admin
    name = f"newcomer-{run.place.service.random.id().lower()}"
    return await run.place.copy_user(name, of=(admin.login_name, admin.password))


async def at_password(run: Run, party: RelyingParty, name: str) -> Page:
    """The page that asks for the password. Every step so far can be taken twice."""
    page = await run.get(party.authorize_url())
    page = await run.get(page.location)
    assert page.name == "login-name"
    page = await run.submit(page, loginName=name)
    page = await run.get(page.location)
    assert page.name == "password"
    return page


async def signed_in(run: Run, page: Page, name: str, **fields: str) -> Page:
    """The form that signs somebody in for the first time is answered: the way to the flow's end.
    Who has lost the answer gets the cookie of the one session by the same form."""
    page = await run.submit(page, **fields)
    assert page.status == 303, page.text
    assert await run.deeds(name, "session.") == ["session.opened"]
    return page


async def code_of(run: Run, party: RelyingParty, page: Page) -> str:
    """The flow's answer, the first of this application: of the page, or one step on. Who has lost
    it gets it again."""
    if "code" not in page.answer:
        page = await run.get(page.location)
    assert await run.stored(AUTHORIZATIONS, party) == 1
    return run.keep(page.answer["code"])


async def redeemed(run: Run, party: RelyingParty, code: str) -> dict:
    """The tokens for a code. When they were lost, the code is a replay and its family dead."""
    answer = await party.redeem(run.browser, code)
    if run.was_done:
        assert refused(answer)
        assert await is_revoked(run, code)
        answer = await party.redeem(run.browser, await run.new_code(party))
    return kept(run, answer)


async def refreshed(run: Run, party: RelyingParty, tokens: dict) -> dict:
    """The next tokens of a family. When they were lost, so is the family."""
    spent = tokens["refresh_token"]
    answer = await party.refresh(run.browser, spent)
    if run.was_done:
        assert refused(answer)
        assert await is_revoked(run, spent)
        assert (await party.userinfo(run.browser, tokens["access_token"])).status == 401
        answer = await party.redeem(run.browser, await run.new_code(party))
    return kept(run, answer)


def kept(run: Run, answer: Page) -> dict:
    assert answer.status == 200, answer.text
    tokens = answer.json()
    run.keep(tokens["refresh_token"])
    run.keep(tokens["access_token"])
    return tokens


async def is_revoked(run: Run, credential: str) -> bool:
    """Whether what came of a code, or a refresh token's family, is dead."""
    record = await run.place.store.get(AUTHORIZATIONS, credential[: opaque_tokens.ID_LENGTH])
    return record.revoked_at is not None


async def is_over(run: Run, party: RelyingParty, tokens: dict) -> None:
    """Nobody is signed in at this browser, and what came of it is dead."""
    assert (await party.silently(run.browser))["error"] == "login_required"
    assert (await party.userinfo(run.browser, tokens["access_token"])).status == 401
