"""The pages of second factors, and how a person gets there: an application demands two."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pyotp

from tests.browser import reset_states

TWO = {"id_token": {"acr": {"essential": True, "value": "urn:idp:acr:two-factors"}}}


def at_offer(person, email=None):
    """Somebody new has given their password; their login name."""
    email = email or reset_states.somebody(person)
    person.page.goto(person.program.demo().authorize_url(claims=json.dumps(TWO), prompt="login"))
    person.sign_in(email, reset_states.OLD)
    return email


def at_app(person):
    email = at_offer(person)
    person.press("Set up an authenticator app")
    return email, person.page.locator("code.key").inner_text().replace(" ", "")


def app_refused(person):
    at_app(person)
    person.fill(code="1")
    person.press("Continue")


def at_codes(person):
    email, secret = at_app(person)
    person.fill(code=pyotp.TOTP(secret).at(datetime.now(UTC)), deviceName="Pixel 9")
    person.press("Continue")
    return email


def at_code(person):
    email = at_codes(person)
    person.press("I have kept them")
    at_offer(person, email)


def wrong_code(person):
    at_code(person)
    person.fill(code="1")
    person.press("Continue")


def throttled(person):
    at_code(person)
    while person.status != 429:
        person.fill(code="1")
        person.press("Continue")


def at_choice(person):
    at_code(person)
    person.press("Confirm it in another way")


def at_recovery(person):
    at_choice(person)
    person.press("Use a recovery code")


def wrong_recovery(person):
    at_recovery(person)
    person.fill(code="abcde-fghij")
    person.press("Continue")


NOBODY = "nobody"

STATES = {
    "factor, demanded": (NOBODY, "factor-offer", False, at_offer),
    "factor, new app": (NOBODY, "totp-enrol", False, at_app),
    "factor, new app refused": (NOBODY, "totp-enrol", True, app_refused),
    "factor, recovery codes": (NOBODY, "recovery-codes", False, at_codes),
    "factor, code": (NOBODY, "totp", False, at_code),
    "factor, wrong code": (NOBODY, "totp", True, wrong_code),
    "factor, throttled": (NOBODY, "totp", True, throttled),
    "factor, choice": (NOBODY, "factor", False, at_choice),
    "factor, recovery code": (NOBODY, "recovery-code", False, at_recovery),
    "factor, wrong recovery code": (NOBODY, "recovery-code", True, wrong_recovery),
}
