"""Sign-ins that begin as notes: stored by the first form that is sent, and given one code."""

from __future__ import annotations

from idp.records import AUTH_REQUESTS, AUTHORIZATIONS, BROWSERS
from tests.fire import stories
from tests.fire.run import Run
from tests.support.browsers.visitor import Page


async def a_note_becomes_one_sign_in(run: Run) -> None:
    """With Back and a second tab. Whoever repeats a form goes on; the note gets one
    code, and makes one request of one browser."""
    run.is_safe_from_here()
    party, (name, password) = await stories.registered(run), await run.person()
    note = await run.browser.open(party.authorize_url())
    tab = await run.browser.open(note.url)
    agents = await run.stored(BROWSERS)
    run.is_in_danger_from_here()
    page = await run.submit(note, loginName=name)
    assert page.status == 303, page.text
    assert await run.stored(AUTH_REQUESTS, party) == 1
    assert await run.stored(BROWSERS) == agents, "it has its record once a user authenticates"
    await run.submit(tab, loginName=name)
    page = await run.browser.open(note.url)
    assert page.name == "password", "the note goes on where its record is"
    answer = await stories.signed_in(run, page, name, password=password)
    code = await stories.code_of(run, party, answer)
    run.is_safe_from_here()
    repeated = note, {"loginName": "somebody else"}, page, {"password": password}
    assert await answered(run, *repeated) == [(303, code), (303, code)]
    await stories.redeemed(run, party, code)
    assert await answered(run, *repeated) == [(410, None), (410, None)]
    assert (await run.browser.open(note.url)).name == "expired"
    assert await run.stored(AUTHORIZATIONS, party) == 1
    assert await run.stored(AUTH_REQUESTS, party) == 1
    assert await run.stored(BROWSERS) == agents + 1
    assert await run.deeds(name, "session.") == ["session.opened"]


async def answered(run: Run, note: Page, first: dict, page: Page, second: dict) -> list:
    """Status and code of the answers to the forms of a sign-in that has ended."""
    answers = await run.browser.send(note, **first), await run.browser.send(page, **second)
    return [(each.status, each.answer.get("code")) for each in answers]


async def a_pushed_request_is_answered_once(run: Run) -> None:
    """A new browser brings it, and signs in by it. Who has lost the page that bound the request
    to the browser has it pushed anew."""
    run.is_safe_from_here()
    party, (name, password) = await stories.registered(run), await run.person()
    reference = await stories.pushed(run, party)
    run.is_in_danger_from_here()
    page = await run.get(reference)
    if page.name == "expired":
        assert run.was_done, "it was bound to a browser that was not told its cookie"
        reference = await stories.pushed(run, party)
        page = await run.get(reference)
    page = await run.browser.follow(page)
    await run.submit(page, loginName=name)
    page = await run.browser.open(reference)
    assert page.name == "login-name", "its browser may bring it again until the sign-in ends"
    page = await run.browser.submit(page, loginName=name)
    page = await stories.signed_in(run, page, name, password=password)
    code = await stories.code_of(run, party, page)
    run.is_safe_from_here()
    again = await run.browser.get(reference)
    assert "code" not in again.answer, "it is used up"
    assert await run.stored(AUTHORIZATIONS, party) == 1
    await stories.redeemed(run, party, code)
