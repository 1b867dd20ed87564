"""The pages of passkeys, and how a person gets there, with a device that Chromium plays itself
(WebAuthn's test API)."""

from __future__ import annotations

import time

from handlers.account.base import RECENT_SECONDS
from tests.browser import factor_states, reset_states, states
from tests.browser.person import Person

NOTHING = "We got no response from your device. Try again."
_USUAL = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


class Device:
    """A device of a person's browser, which recognizes its owner until it is told not to."""

    def __init__(self, person):
        self._session = person.context.new_cdp_session(person.page)
        self._session.send("WebAuthn.enable", {})
        made = self._session.send("WebAuthn.addVirtualAuthenticator", {"options": _USUAL})
        self._id = made["authenticatorId"]

    def _tell(self, command, **values):
        return self._session.send(f"WebAuthn.{command}", {"authenticatorId": self._id, **values})

    def recognize(self, is_known=True):
        self._tell("setUserVerified", isUserVerified=is_known)

    @property
    def credentials(self):
        return self._tell("getCredentials")["credentials"]


def enrolled(person):
    """Somebody new is signed in with their password, and then made a passkey: their device, and
    their login name."""
    device, email = Device(person), reset_states.somebody(person)
    person.sign_in_to_demo(email, reset_states.OLD)
    person.go("/ui/account/passkeys/new")
    person.press("Add a passkey")
    person.press("I've saved them")
    assert person.name == "account/passkeys", person.text
    return device, email


def _owner(person):
    """The login name of somebody whose passkey is on a device of another browser, and the cookies
    that they have there: the same for all who only look, as long as they signed in recently."""
    program = person.program
    until, owner = getattr(program, "passkey_owner", (0.0, None))
    if owner is None or time.monotonic() > until:
        until = time.monotonic() + RECENT_SECONDS / 2
        other = Person(person.context.browser, program)
        _, email = enrolled(other)
        owner = email, other.context.cookies()
        program.passkey_owner = until, owner
        other.context.close()
    return owner


def at_enrolment(person):
    factor_states.at_offer(person)
    person.press("Set up a passkey")


def nothing_made(person):
    """The device recognizes nobody; without scripts it was never asked."""
    at_enrolment(person)
    if person.has_scripts:
        Device(person).recognize(False)
        person.page.get_by_role("button").first.click()
        person.page.locator("[data-when=nothing]").wait_for()


def after_password(person):
    email, _ = _owner(person)
    states.begin(person)
    person.sign_in(email, reset_states.OLD)


def instead_of_password(person):
    states.at_password(person)
    person.page.goto(person.page.url.replace("/login/password", "/login/passkey"))


def signed_in(person):
    _, cookies = _owner(person)
    person.context.add_cookies(cookies)
    person.go("/ui/account/passkeys")


def at_name(person):
    signed_in(person)
    person.press("Rename")


def at_removal(person):
    signed_in(person)
    person.press("Remove")


NOBODY = "nobody"

STATES = {
    "passkey, new": (NOBODY, "passkey-enrol", False, at_enrolment),
    "passkey, nothing received": (NOBODY, "passkey-enrol", False, nothing_made),
    "passkey, after the password": (NOBODY, "passkey", False, after_password),
    "passkey, alone": (NOBODY, "passkey", False, instead_of_password),
    "own passkeys": (NOBODY, "account/passkeys", False, signed_in),
    "own passkeys, name": (NOBODY, "account/passkey-name", False, at_name),
    "own passkeys, removal": (NOBODY, "account/form", False, at_removal),
}
