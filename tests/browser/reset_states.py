"""The pages of a forgotten password, and how a person gets there."""

from __future__ import annotations

import re

from tests.browser import states

OLD, NEW = "a long and quiet evening", "seven green kettles hum"


def somebody(person, **more):
    """The address, and login name, of a new account."""
    email = states.newcomer(person)
    states.as_admin(
        person.program,
        "/v2/users/human",
        profile={"givenName": "Nora", "familyName": "Nguyễn"},
        email={"email": email, "isVerified": True},
        password={"password": OLD},
        **more,
    )
    return email


def at_reset(person, name=None):
    states.at_password(person, name or somebody(person))
    person.press("Forgot password?")


def unknown_name(person):
    at_reset(person)
    person.fill(loginName="x" * 201)
    person.press("Send the code")


def asked(person):
    """At the code; the address of who asked."""
    email = somebody(person)
    at_reset(person, email)
    person.press("Send the code")
    return email


def wrong_code(person):
    asked(person)
    person.fill(code="1")
    person.press("Verify")


def right_code(person):
    enter_code(person, asked(person))


def enter_code(person, email):
    """The code from the newest mail to that address, at the page that asks for it."""
    address = person.page.url
    person.go("/dev/mail")
    code = re.search(r"\b\d{8}\b", states.below_address(person, email, "pre").inner_text())[0]
    person.page.goto(address)
    person.fill(code=code)
    person.press("Verify")


def link(person):
    """The page that the mail's link opens, in another browser."""
    email = asked(person)
    person.go("/dev/mail")
    address = states.below_address(person, email, "p/a").get_attribute("href")
    person.context.clear_cookies()
    person.page.goto(address)


def spent_link(person):
    link(person)
    address = person.page.url
    person.fill(newPassword=NEW)
    person.press("Save the new password")
    person.context.clear_cookies()
    person.page.goto(address)


def without_cookie(person):
    states.at_password(person)
    person.context.clear_cookies()
    person.page.reload()


NOBODY = "nobody"
STATES = {
    "reset": (NOBODY, "reset", False, at_reset),
    "reset, too long": (NOBODY, "reset", True, unknown_name),
    "reset, code": (NOBODY, "reset-code", False, asked),
    "reset, wrong code": (NOBODY, "reset-code", True, wrong_code),
    "reset, new password": (NOBODY, "change-password", False, right_code),
    "reset, link": (NOBODY, "change-password", False, link),
    "reset, spent link": (NOBODY, "expired", False, spent_link),
    "expired, no cookie": (NOBODY, "expired", False, without_cookie),
}
