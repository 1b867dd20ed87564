"""Sign-ins that begin as notes: stored by the first form that is sent, and answered once."""

from __future__ import annotations

from idp.records import AUTH_REQUESTS, AUTHORIZATIONS, BROWSERS, SESSIONS
from tests.fire import stories
from tests.fire.run import Run
from tests.support.browsers.visitor import Page
from tests.support.protocol.relying_party import RelyingParty


async def a_note_becomes_one_sign_in(run: Run) -> None:
    """With Back and a second tab. Whoever repeats a form goes on or begins anew; the note is
    answered once, and makes one request of one browser."""
    run.is_safe_from_here()
    party, (name, password) = await stories.registered(run), await run.person()
    note = await run.browser.open(party.authorize_url())
    tab = await run.browser.open(note.url)
    agents = await stored(run, BROWSERS)
    run.is_in_danger_from_here()
    page = await run.submit(note, loginName=name)
    assert page.status == 303, page.text
    assert await stored(run, AUTH_REQUESTS, party) == 1
    assert await stored(run, BROWSERS) == agents + 1
    await run.submit(tab, loginName=name)
    page = await run.browser.open(note.url)
    assert page.name == "password", "the note goes on where its record is"
    answer = await run.submit(page, password=password)
    if run.has_signed_in(answer):
        await begun_anew(run, party, note, (name, password))
        return
    answer = await run.get(answer.location)
    run.is_safe_from_here()
    if run.was_done:
        assert (answer.status, answer.name) == (410, "expired")
    else:
        run.keep(answer.answer["code"])
    await is_answered(run, note, page, password)
    assert await stored(run, AUTHORIZATIONS, party) == 1
    assert await stored(run, AUTH_REQUESTS, party) == 1
    assert await stored(run, BROWSERS) == agents + 1
    await stories.redeemed(run, party, await run.new_code(party))


async def begun_anew(run: Run, party: RelyingParty, note: Page, who: tuple[str, str]) -> None:
    """The browser's new secret was lost with the answer: its sign-in can't be gone on with, and
    nothing was issued by it."""
    run.is_safe_from_here()
    assert await stored(run, AUTHORIZATIONS, party) == 0
    shown = await run.browser.open(note.url)
    assert shown.name == "expired", shown.text
    page = await stories.anew(run, party, *who)
    page = await run.browser.follow(page)
    assert await stored(run, AUTHORIZATIONS, party) == 1
    assert await stored(run, AUTH_REQUESTS, party) == 2
    assert await stored(run, SESSIONS) >= 2
    await stories.redeemed(run, party, run.keep(page.answer["code"]))


async def is_answered(run: Run, note: Page, page: Page, password: str) -> None:
    """Whatever is done with the note afterwards, nothing more is issued."""
    for shown in (
        await run.browser.open(note.url),
        await run.browser.send(note, loginName="somebody else"),
        await run.browser.send(page, password=password),
    ):
        assert (shown.status, shown.name) == (410, "expired"), shown.text


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
    page = await run.submit(page, password=password)
    if run.has_signed_in(page):
        run.is_safe_from_here()
        assert await stored(run, AUTHORIZATIONS, party) == 0
        return
    page = await run.get(page.location)
    run.is_safe_from_here()
    if run.was_done:
        assert (page.status, page.name) == (410, "expired")
    else:
        run.keep(page.answer["code"])
    again = await run.browser.get(reference)
    assert "code" not in again.answer, "it is used up"
    assert await stored(run, AUTHORIZATIONS, party) == 1


async def stored(run: Run, collection, party: RelyingParty | None = None) -> int:
    """How many records there are, of one application."""
    where = {"client_id": party.client_id} if party else None
    return len([one.id async for one in run.place.store.scan(collection, where)])
