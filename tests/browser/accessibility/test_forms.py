"""What forms spare their users: errors that are not explained, what was typed already, passwords
that must be remembered, help in another place, and changes that nobody says."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser import account_states, factor_states, passkey_states, reset_states, states
from tests.browser.accessibility import probes
from tests.browser.person import ENOUGH_MS
from tests.support.samples.policies import FULL, address

PAGES_WITH_HELP = (
    *("/demo/sign-in?prompt=login", "/ui/device"),
    *("/ui/account", "/ui/account/security"),
)
HELP = ["Privacy policy", "Terms of service", "Help", "Documentation", "Contact support"]
LINKS = """() => {
    const main = document.querySelector("main");
    return [...document.querySelectorAll("footer .links a")]
        .filter((each) => main.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING)
        .map((each) => each.textContent.trim());
}"""
SECTIONS = """() => [...document.querySelectorAll("nav li a")]
    .filter((each) => each.checkVisibility()).map((each) => each.textContent.trim())"""


@pytest.fixture
def with_help(program):
    """The installation with the links of an operator, for one test."""
    token = (program.directory / "admin.pat").read_text().strip()
    url = program.issuer + address("privacy", "admin")

    def put(body):
        headers = {"Authorization": f"Bearer {token}"}
        assert httpx.put(url, json=body, headers=headers).status_code == 200

    put(FULL["privacy"] | {"supportEmail": "help@shop.example"})
    yield
    put({})


# Help and navigation


def test_help_is_in_the_same_place_on_every_page(new_person, signed_in, with_help):
    """3.2.6."""
    person = new_person(locale="en", storage_state=signed_in[states.ONE])
    found = {}
    for path in (
        "/demo/sign-in?prompt=login",
        "/ui/device",
        "/ui/account",
        "/ui/account/security",
    ):
        person.go(path)
        found[person.name] = person.page.evaluate(LINKS)

    assert len(found) == 4
    for links in found.values():
        assert links == [
            "Privacy policy",
            "Terms of service",
            "Help",
            "Documentation",
            "Contact support",
        ]


def test_the_navigation_is_in_the_same_order_on_every_page(new_person, signed_in):
    """3.2.3."""
    person = new_person(locale="en", storage_state=signed_in[states.ADMIN])
    found = []
    for path in ("", "/users", "/organizations", "/events"):
        person.go(f"/ui/console{path}")
        found.append(person.page.evaluate(SECTIONS))

    assert len(found[0]) > 5
    assert all(each == found[0] for each in found)


# Errors


@pytest.mark.parametrize(
    ("state", "fields"),
    [
        ("password, wrong", {"password"}),
        ("register, refused", {"email", "newPassword"}),
        ("account, profile, refused", {"profile.birthdate", "profile.website"}),
    ],
)
def test_an_error_is_text_at_its_field(new_person, signed_in, state, fields):
    """3.3.1, 1.4.1: with an icon, and the field is described by it. 4.1.3: several are an alert,
    which links to the fields as they come on the page."""
    who, _, _, go = states.STATES[state]
    person = new_person(locale="en", storage_state=signed_in[who])
    go(person)
    problems = person.page.evaluate(probes.PROBLEMS)
    linked = person.page.get_by_role("alert").get_by_role("link").all_inner_texts()

    assert fields <= {each["name"] for each in problems}
    assert all(each["label"] and each["text"] and each["hasIcon"] for each in problems)
    assert linked == ([] if len(problems) == 1 else [each["label"] for each in problems])
    assert person.page.title().startswith("Error: ")


# What was typed already


def test_what_was_typed_in_a_step_is_there_in_the_next_one(new_person):
    """3.3.7: the name of the account, from the sign-in to the new password."""
    person = new_person(locale="en")
    email = reset_states.somebody(person)
    states.at_password(person, email)
    assert person.page.input_value("[name=loginName]") == email
    person.press("Forgot password?")
    assert person.page.input_value("[name=loginName]") == email
    person.press("Send the code")
    assert person.page.input_value("[name=loginName]") == email
    reset_states.enter_code(person, email)

    assert person.name == "change-password"
    assert person.page.input_value("[name=loginName]") == email


def test_a_refused_form_keeps_what_was_typed_but_for_secrets(new_person):
    """3.3.7."""
    person = new_person(locale="en")
    states.registration_refused(person)

    assert person.page.input_value("[name=givenName]") == "Nora"
    assert person.page.input_value("[name=familyName]") == "Nguyễn"
    assert person.page.input_value("[name=email]") == "newcomer@"
    assert person.page.input_value("[name=newPassword]") == ""


# Authentication


def paste(person, text, field):
    """Put a text into the clipboard, and from there into the field, by keys alone."""
    page = person.page
    person.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
    page.focus(f"[name={field}]")
    page.keyboard.press("Control+V")
    expect(page.locator(f"[name={field}]")).to_have_value(text, timeout=ENOUGH_MS)


def test_a_sign_in_is_pasted(new_person):
    """3.3.8: nothing has to be typed from memory, and no field refuses a password manager."""
    person = new_person(locale="en")
    name, password = person.program.user
    states.begin(person)
    paste(person, name, "loginName")
    assert person.page.get_attribute("[name=loginName]", "autocomplete") == "username webauthn"
    person.press("Continue")
    paste(person, password, "password")
    assert person.page.get_attribute("[name=password]", "autocomplete") == "current-password"
    person.press("Sign in")

    assert person.name == "demo"


def test_a_code_is_pasted_with_its_spaces(new_person):
    """3.3.8."""
    person = new_person(locale="en")
    email = reset_states.asked(person)
    address = person.page.url
    person.go("/dev/mail")
    code = re.search(r"\b\d{8}\b", states.below_address(person, email, "pre").inner_text())[0]
    person.page.goto(address)
    paste(person, f"{code[:4]} {code[4:]}", "code")
    person.press("Verify")

    assert person.name == "change-password"


# Messages about what happened


def exposed(person, role):
    """The texts with this role that assistive technology is given."""
    return [each for each in person.page.get_by_role(role).all_inner_texts() if each.strip()]


def test_a_copy_is_reported_without_a_change_of_focus(new_person):
    """4.1.3."""
    person = new_person(locale="en")
    person.context.grant_permissions(["clipboard-read", "clipboard-write"])
    factor_states.at_app(person)
    assert exposed(person, "status") == []
    person.page.get_by_role("button", name="Copy").click()
    person.page.get_by_role("status").filter(has_text="Copied").wait_for()

    assert exposed(person, "status") == ["Copied"]
    assert person.page.evaluate("document.activeElement.getAttribute('aria-label')") == "Copy"


def test_it_is_reported_when_a_new_password_is_good_enough(new_person):
    """4.1.3."""
    person = new_person(locale="en")
    states.at_registration(person)
    person.fill(newPassword="a long and quiet afternoon")

    person.page.get_by_role("status").get_by_text("meets all of these").wait_for()
    assert "doesn't meet" not in person.page.get_by_role("status").aria_snapshot()


def test_it_is_reported_when_a_device_sends_nothing(new_person):
    """4.1.3."""
    person = new_person(locale="en")
    passkey_states.instead_of_password(person)
    passkey_states.Device(person).recognize(False)
    person.page.get_by_role("button", name="Use your passkey").click()
    person.page.get_by_role("alert").wait_for()

    (alert,) = exposed(person, "alert")
    assert alert.strip().startswith("We got no response from your device.")


def test_it_is_reported_that_a_change_was_saved(new_person):
    """4.1.3: by the notice of the next page."""
    person = new_person(locale="en")
    account_states.entered("/profile/edit")(person)
    person.press("Save")

    assert len(exposed(person, "status")) == 1
