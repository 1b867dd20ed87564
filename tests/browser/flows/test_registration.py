"""Opening an account at a browser: with scripts and without, by keyboard, by the mail's link."""

from __future__ import annotations

import re

import pytest

from tests.browser.person import in_both_ways
from tests.browser.states import newcomer

PASSWORD = "a long and quiet evening"


def begin(person):
    """The form, from the demo's own link; the address to be typed."""
    person.go("/demo")
    person.press("Create an account")
    title = "Create an account – Demo application"
    assert (person.name, person.page.title()) == ("register", title)
    return newcomer(person)


def fill(person, email):
    person.fill(givenName="Nora", familyName="Nguyễn", email=email, newPassword=PASSWORD)


def code_of(person):
    """The code of the newest mail, as a person copies it from another tab."""
    tab = person.context.new_page()
    tab.goto(person.program.issuer + "/dev/mail")
    text = tab.locator("pre").first.inner_text()
    tab.close()
    return re.search(r"\d{8}", text).group()


@in_both_ways
def test_an_account_is_opened_by_the_link_in_the_mail(person):
    email = begin(person)
    fill(person, email)
    person.press("Create account")
    assert person.name == "verify-email"
    person.press("Read the captured email")
    person.press("Open its link")
    person.press("Verify")

    assert person.name == "demo"
    assert email in person.text
    person.go("/demo/sign-in?prompt=none")
    assert email in person.text


def test_a_code_is_copied_from_the_mail(person):
    email = begin(person)
    fill(person, email)
    person.press("Create account")
    code = code_of(person)
    person.fill(code=f"{code[:4]} {code[4:]}")
    person.press("Verify")

    assert person.name == "demo"
    assert email in person.text


def test_an_account_is_opened_by_keyboard_alone(person):
    email = begin(person)
    keyboard = person.page.keyboard
    for typed in ("Nora", "Nguyễn", email):  # the cursor is in the first field
        keyboard.type(typed)
        keyboard.press("Tab")
    keyboard.type(PASSWORD)
    with person.page.expect_navigation():
        keyboard.press("Enter")
    assert person.name == "verify-email"
    keyboard.type(code_of(person))
    with person.page.expect_navigation():
        keyboard.press("Enter")

    assert person.name == "demo"
    assert email in person.text


def test_a_mistake_keeps_what_was_typed_but_the_password(person):
    begin(person)
    fill(person, "nora@")
    person.press("Create account")

    assert (person.status, person.name) == (400, "register")
    assert person.page.input_value("input[name=familyName]") == "Nguyễn"
    assert person.page.input_value("input[name=newPassword]") == ""


@pytest.mark.parametrize("clicks", [2, 3])
def test_pressing_twice_brings_one_mail(new_person, clicks):
    person = new_person()
    email = begin(person)
    fill(person, email)
    with person.page.expect_navigation():
        person.page.locator("button", has_text="Create account").click(click_count=clicks)
    assert person.name == "verify-email"
    person.go("/dev/mail")

    assert person.text.count(f"To {email}") == 1
