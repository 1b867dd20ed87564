"""A passkey, request by request: made because an application demands it, and used."""

from __future__ import annotations

import json

from tests.fire import stories
from tests.fire.run import Run
from tests.support.browsers.authenticator import Device
from tests.support.browsers.visitor import Page
from tests.support.protocol.relying_party import RelyingParty
from tests.support.sign_in.passkeys import at_name, options_of

KEY = {"id_token": {"acr": {"essential": True, "value": "urn:idp:acr:passkey"}}}


async def at_enrolment(run: Run, party: RelyingParty) -> tuple[str, Page]:
    """Somebody who has no passkey, at an application that demands one: login name and page."""
    name, password = await run.person()
    url = party.authorize_url(claims=json.dumps(KEY))
    page = await run.browser.sign_in(url, name, password)
    page = await run.browser.submit(page, factor="passkey")
    assert page.name == "passkey-enrol", page.text
    return name, page


async def enrolled(run: Run, party: RelyingParty, page: Page) -> None:
    """The passkey is stored: the way to the application's tokens."""
    page = await run.browser.follow(page)
    assert page.name == "recovery-codes", page.text
    page = await run.browser.submit(page)
    await stories.redeemed(run, party, run.keep(page.answer["code"]))


async def a_passkey_is_made(run: Run) -> None:
    """Once it is stored, it is its owner's, whoever is told of it or not."""
    run.is_safe_from_here()
    party = await stories.registered(run)
    name, page = await at_enrolment(run, party)
    answer = Device(run.place.issuer).create(options_of(page))

    run.is_in_danger_from_here()
    page = await run.submit(page, deviceName="Phone", passkey=answer)
    run.is_safe_from_here()

    assert page.status == 303, page.text
    assert await run.deeds(name, "passkey.") == ["passkey.created"]
    await enrolled(run, party, page)
    assert await run.deeds(name, "session.") == ["session.opened"]


async def a_passkey_signs_in(run: Run) -> None:
    """Who repeats an answer that signed in goes on; on a new page it counts no more."""
    run.is_safe_from_here()
    party, device = await stories.registered(run), Device(run.place.issuer)
    name, page = await at_enrolment(run, party)
    made = device.create(options_of(page))
    await enrolled(run, party, await run.submit(page, deviceName="Phone", passkey=made))
    page = await at_name(run.browser, party, prompt="select_account")
    answer = device.get(options_of(page))

    run.is_in_danger_from_here()
    page = await run.submit(page, passkey=answer)
    run.is_safe_from_here()

    assert await run.deeds(name, "session.") == ["session.opened", "session.renewed"]
    page = await run.browser.follow(page)
    await stories.redeemed(run, party, run.keep(page.answer["code"]))
    page = await at_name(run.browser, party, prompt="select_account")
    assert (await run.submit(page, passkey=answer)).status == 400
