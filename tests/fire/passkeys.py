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


async def at_enrolment(run: Run, party: RelyingParty) -> Page:
    """Somebody who has no passkey, at an application that demands one."""
    who = await run.person()
    page = await run.browser.sign_in(party.authorize_url(claims=json.dumps(KEY)), *who)
    page = await run.browser.submit(page, factor="passkey")
    assert page.name == "passkey-enrol", page.text
    return page


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
    page = await at_enrolment(run, party)
    answer = Device(run.place.issuer).create(options_of(page))

    run.is_in_danger_from_here()
    page = await run.submit(page, deviceName="Phone", passkey=answer)
    run.is_safe_from_here()

    assert page.status == 303, page.text
    await enrolled(run, party, page)


async def a_passkey_signs_in(run: Run) -> None:
    """An answer that signed in counts no more, though nobody was told."""
    run.is_safe_from_here()
    party, device = await stories.registered(run), Device(run.place.issuer)
    page = await at_enrolment(run, party)
    made = device.create(options_of(page))
    await enrolled(run, party, await run.submit(page, deviceName="Phone", passkey=made))
    page = await at_name(run.browser, party, prompt="select_account")
    answer = device.get(options_of(page))

    run.is_in_danger_from_here()
    page = await run.submit(page, passkey=answer)
    run.is_safe_from_here()

    if run.was_done:
        assert (page.status, page.name) == (403, "expired")
        page = await at_name(run.browser, party)
        assert (await run.submit(page, passkey=answer)).status == 400
        page = await run.submit(page, passkey=device.get(options_of(page)))
    page = await run.browser.follow(page)
    await stories.redeemed(run, party, run.keep(page.answer["code"]))
