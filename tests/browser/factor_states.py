"""The pages of second factors, and how a person gets there: an application demands two."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from tests.browser import reset_states
from tests.support.sign_in.factors import code_at

TWO = {"id_token": {"acr": {"essential": True, "value": "urn:idp:acr:two-factors"}}}


def asked_for_two(person):
    person.page.goto(person.program.demo().authorize_url(claims=json.dumps(TWO), prompt="login"))


def at_offer(person):
    """Somebody new has given their password."""
    email = reset_states.somebody(person)
    asked_for_two(person)
    person.sign_in(email, reset_states.OLD)


def at_app(person):
    """The secret of the app."""
    at_offer(person)
    person.press("Set up an authenticator app")
    return secret_of(person)


def secret_of(person):
    return person.page.locator("#key").inner_text().replace(" ", "")


def app_refused(person):
    at_app(person)
    person.fill(code="1")
    person.press("Verify")


def at_codes(person):
    confirm_app(person, at_app(person))


def confirm_app(person, secret):
    """The app's first code."""
    clock = getattr(person.program, "clock", None)
    now = clock.now() if clock else datetime.now(UTC)
    person.fill(code=code_at(secret, now), deviceName="Pixel 9")
    person.press("Verify")


def at_code(person):
    at_codes(person)
    person.press("I've saved them")
    asked_for_two(person)
    person.fill(password=reset_states.OLD)
    person.press("Sign in")


def wrong_code(person):
    at_code(person)
    person.fill(code="1")
    person.press("Verify")


def at_choice(person):
    at_code(person)
    person.press("Use another method")


def at_recovery(person):
    at_choice(person)
    person.press("Recovery code")


def new_codes(person):
    at_codes(person)
    person.press("I've saved them")
    person.go("/ui/account/recovery-codes")
    person.press("Generate new codes")


def own_app(person):
    at_codes(person)
    person.press("I've saved them")
    person.go("/ui/account/authenticator")


NOBODY = "nobody"

STATES = {
    "factor, demanded": (NOBODY, "factor-offer", False, at_offer),
    "factor, new app": (NOBODY, "totp-enrol", False, at_app),
    "factor, new app refused": (NOBODY, "totp-enrol", True, app_refused),
    "factor, recovery codes": (NOBODY, "recovery-codes", False, at_codes),
    "factor, code": (NOBODY, "totp", False, at_code),
    "factor, wrong code": (NOBODY, "totp", True, wrong_code),
    "factor, choice": (NOBODY, "factor", False, at_choice),
    "factor, recovery code": (NOBODY, "recovery-code", False, at_recovery),
    "own app": (NOBODY, "account/show", False, own_app),
    "own recovery codes, new": (NOBODY, "account/recovery-codes", False, new_codes),
}
