"""A device is signed in by a person at a browser: from the code that it shows to its tokens."""

from __future__ import annotations

import pytest

from tests.browser import states
from tests.support.protocol.device import GRANT


def poll(program, device):
    form = {name: device[name] for name in ("client_id", "device_code")}
    return states.of_client(program, "/oauth/v2/token", form | {"grant_type": GRANT}).json()


@pytest.fixture
def device(program):
    return states.device_of(program)


@pytest.mark.promise("device: sign-in")
@pytest.mark.parametrize("scripts", [True, False])
def test_a_person_types_the_code_signs_in_and_lets_the_device_in(
    new_person, program, device, scripts
):
    person = new_person(scripts=scripts)
    before = poll(program, device)
    person.page.goto(device["verification_uri"])
    person.fill(userCode=device["user_code"].lower().replace("-", " "))
    person.press("Continue")
    person.sign_in(*program.user)
    asked = (person.name, person.text)
    person.press("Allow")
    tokens = poll(program, device)

    assert before["error"] == "authorization_pending"
    assert asked[0] == "device-confirm"
    assert "Television" in asked[1]
    assert person.name == "signed-in"
    assert "The device is signed in." in person.text
    assert {"access_token", "refresh_token", "id_token"} <= set(tokens)


@pytest.mark.parametrize("scripts", [True, False])
def test_a_person_who_came_by_the_link_may_refuse(new_person, program, device, scripts):
    person = new_person(scripts=scripts)
    states.at_device(person, device)
    person.press("Cancel")

    assert "The device is not signed in." in person.text
    assert poll(program, device)["error"] == "access_denied"


def test_a_user_who_goes_back_after_the_decision_changes_nothing(new_person, program, device):
    person = new_person()
    states.at_device(person, device)
    person.sign_in(*program.user)
    address = person.page.url
    person.press("Allow")
    person.page.goto(address)

    assert (person.status, person.name) == (410, "expired")
    assert "access_token" in poll(program, device)
