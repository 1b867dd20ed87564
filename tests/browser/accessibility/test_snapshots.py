"""What screen readers are given of the five flows: the roles, names and states of all parts of
their pages equal those that are stored, in `snapshots/`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.browser import factor_states, reset_states, states

STORED = Path(__file__).parent / "snapshots"
# What differs from run to run, and what stands for it.
VARYING = (
    (r"newcomer\d+@example\.com", "newcomer@example.com"),
    (r"(/url: [^?\s]+)\?\S+", r"\1"),
    (r"(Send a new code) \(\d+\)", r"\1 (n)"),
    (r"(?:[A-Z2-7]{4} ){7}[A-Z2-7]{4}", "THE KEY"),
    (r"[a-z0-9]{5}-[a-z0-9]{5}(?: [a-z0-9]{5}-[a-z0-9]{5})+", "the codes"),
    (r"otpauth://\S+", "otpauth://"),
)


def sign_in(person):
    states.begin(person)
    yield
    person.fill(loginName="demo")
    person.press("Continue")
    yield


def register(person):
    states.at_registration(person)
    yield
    person.fill(
        givenName="Nora",
        familyName="Nguyễn",
        email=states.newcomer(person),
        newPassword=reset_states.NEW,
    )
    person.press("Create account")
    yield


def reset_the_password(person):
    email = reset_states.somebody(person)
    reset_states.at_reset(person, email)
    yield
    person.press("Send the code")
    yield
    reset_states.enter_code(person, email)
    yield


def enrol_a_second_factor(person):
    factor_states.at_offer(person)
    yield
    person.press("Set up an authenticator app")
    yield
    factor_states.confirm_app(person, factor_states.secret_of(person))
    yield


def consent(person):
    states.asked_to_consent(person)
    yield


FLOWS = {
    "sign-in": (states.NOBODY, sign_in),
    "register": (states.NOBODY, register),
    "reset-the-password": (states.NOBODY, reset_the_password),
    "enrol-a-second-factor": (states.NOBODY, enrol_a_second_factor),
    "consent": (states.ONE, consent),
}


def exposed(person):
    """What the page shows to assistive technology, without what differs from run to run."""
    text = person.page.locator("body").aria_snapshot().replace(person.program.issuer, "")
    for pattern, instead in VARYING:
        text = re.sub(pattern, instead, text)
    return f"# {person.name}: {person.page.title()}\n{text}\n"


@pytest.mark.parametrize("flow", FLOWS)
def test_a_flow_is_exposed_to_screen_readers_as_it_was(new_person, signed_in, tmp_path, flow):
    """1.1.1, 1.3.1, 2.4.2, 4.1.2."""
    who, pages = FLOWS[flow]
    person = new_person(locale="en", storage_state=signed_in[who])
    now = tmp_path / f"{flow}.yml"

    now.write_text("\n".join(exposed(person) for _ in pages(person)))

    stored = STORED / now.name
    assert now.read_text() == stored.read_text(), f"if that is meant: cp {now} {stored}"


def test_no_snapshot_is_left_over():
    assert {file.stem for file in STORED.iterdir()} == set(FLOWS)
