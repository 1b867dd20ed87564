"""Passkeys in Chromium: made, used by a button and among the names, and what else can happen."""

from __future__ import annotations

import pytest

from tests.browser.passkey_states import enrolled
from tests.browser.reset_states import OLD

BUTTON = "Sign in with a passkey"
INSTEAD = "Use a passkey instead"
NOTHING = "We got no response from your device. Try again or use your password."


# So that the device answers nobody but the button.
OFFERS_NOTHING = "PublicKeyCredential.isConditionalMediationAvailable = async () => false"


def forget_cookies(person):
    person.context.clear_cookies()


def test_a_passkey_is_made_and_signs_in_by_the_button(new_person):
    person = new_person()
    device, _ = enrolled(person)
    assert person.name == "account/passkeys"
    assert "My passkey" in person.text
    forget_cookies(person)
    person.page.add_init_script(OFFERS_NOTHING)

    person.go("/demo/sign-in")
    person.press(BUTTON)

    assert person.name == "demo", person.text
    assert device.credentials[0]["signCount"] == 2


@pytest.mark.load
def test_a_device_that_recognizes_nobody_can_be_asked_again(new_person):
    person = new_person()
    device, _ = enrolled(person)
    forget_cookies(person)
    person.page.add_init_script(OFFERS_NOTHING)
    device.recognize(False)
    person.go("/demo/sign-in")

    person.page.get_by_role("button", name=BUTTON).click()
    person.page.get_by_text(NOTHING).wait_for()

    device.recognize()
    person.press(BUTTON)
    assert person.name == "demo", person.text


@pytest.mark.load
def test_a_password_that_is_right_is_followed_by_the_passkey(new_person):
    person = new_person()
    device, login_name = enrolled(person)
    forget_cookies(person)
    person.page.add_init_script(OFFERS_NOTHING)
    device.recognize(False)
    person.go("/demo/sign-in")

    person.sign_in(login_name, OLD)
    assert person.name == "passkey"
    device.recognize()
    person.press("Use your passkey")

    assert person.name == "demo", person.text


@pytest.mark.load
def test_the_browser_offers_it_among_the_names(new_person):
    person = new_person()
    enrolled(person)
    forget_cookies(person)

    person.go("/demo/sign-in")
    person.page.wait_for_url("**/demo*")

    assert person.name == "demo", person.text


@pytest.mark.load
def test_who_types_a_name_is_not_held_up_by_what_the_browser_offers(new_person):
    person = new_person()
    device, login_name = enrolled(person)
    forget_cookies(person)
    person.page.add_init_script(OFFERS_NOTHING)

    person.go("/demo/sign-in")
    person.fill(loginName=login_name)
    person.press("Continue")
    assert person.name == "password"
    device.recognize()
    person.press(INSTEAD)
    person.press("Use your passkey")

    assert person.name == "demo", person.text


def test_without_scripts_nothing_of_it_is_there(new_person):
    person = new_person(scripts=False)

    person.go("/demo/sign-in")
    assert person.page.get_by_role("button", name=BUTTON).count() == 0
    person.fill(loginName=person.program.user[0])
    person.press("Continue")
    assert person.page.get_by_role("link", name=INSTEAD).count() == 0
    person.fill(password=person.program.user[1])
    person.press("Sign in")

    assert person.name == "demo", person.text
