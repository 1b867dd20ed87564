"""An answer that is posted to the application, by Chromium itself or by whoever presses the
button; and an application of others that is let in."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.browser.person import in_both_ways
from tests.flows.conftest import at
from tests.support.programs.program import eventually
from tests.support.servers.receiver import Receiver


async def registered(program, callback):
    place = await at(program)
    party = await place.register(redirect_uris=[callback], is_third_party=True)
    await place.store.close()
    return party


@pytest.fixture
def application(program):
    """An application of others, which passes its visitor on once it is called."""
    receiver = Receiver(303, Location=f"{program.issuer}/demo")
    callback = receiver.url.replace("/logout", "/cb")
    with ThreadPoolExecutor(1) as elsewhere:  # Playwright's loop runs in this thread
        party = elsewhere.submit(asyncio.run, registered(program, callback)).result()
    yield receiver, party
    receiver.close()


def go_back(person):
    """A browser without scripts shows the page that the others have left already."""
    if not person.has_scripts:
        assert person.name == "form-post"
        person.press("Continue")
    person.page.wait_for_url("**/demo")


@pytest.mark.promise("authorization: form_post")
@in_both_ways
def test_the_answer_is_posted_by_itself_and_by_hand(person, application):
    receiver, party = application
    person.page.goto(party.authorize_url(response_mode="form_post", state='a "b" & <c>'))
    person.sign_in(*person.program.user)
    assert person.name == "consent"
    person.press("Allow")
    go_back(person)
    (call,) = eventually(lambda: receiver.calls, "an answer")
    answer = dict(call.form)

    assert call.path == "/cb?tenant=1"
    assert answer.keys() == {"code", "state", "iss"}
    assert answer["state"] == 'a "b" & <c>'
    assert answer["iss"] == person.program.issuer
    assert person.complaints == []


def test_who_does_not_let_an_application_in_is_sent_back_with_that(person, application):
    receiver, party = application
    person.page.goto(party.authorize_url(response_mode="form_post"))
    person.sign_in(*person.program.user)
    person.press("Don't allow")
    go_back(person)
    (call,) = eventually(lambda: receiver.calls, "an answer")

    assert dict(call.form)["error"] == "access_denied"
