"""Codes of authenticator apps are those of RFC 4226 and RFC 6238, of short secrets, too."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

import pytest

from idp.identity.factors import totp
from tests.support.sign_in.factors import code_at

# RFC 6238, appendix B, SHA-1; of its eight digits the last six.
SECRET = base64.b32encode(b"12345678901234567890").decode()
VECTORS = {
    59: "287082",
    1111111109: "081804",
    1111111111: "050471",
    1234567890: "005924",
    2000000000: "279037",
    20000000000: "353130",
}


@pytest.mark.promise("faults: short TOTP secrets")
@pytest.mark.parametrize(("seconds", "code"), VECTORS.items())
def test_the_codes_are_those_of_the_rfc(seconds, code):
    now = datetime.fromtimestamp(seconds, UTC)

    assert totp.step_of(SECRET, code, now) == seconds // totp.STEP_SECONDS
    assert code_at(SECRET, now) == code


@pytest.mark.parametrize("octets", [10, 11, 16, 20, 64, 128])
def test_a_secret_of_any_length_that_is_taken_gives_its_codes(octets):
    secret = totp.read_secret(base64.b32encode(bytes(range(octets))).decode())
    now = datetime(2030, 1, 1, tzinfo=UTC)

    assert totp.step_of(secret, code_at(secret, now), now) is not None
    assert totp.step_of(secret, code_at(secret, now, steps=3), now) is None


def test_the_address_for_apps_names_the_secret_and_what_it_is_for():
    made = totp.uri("ABC", "id.example:8443", "minnie@mouse.example")

    assert made == (
        "otpauth://totp/id.example%3A8443:minnie%40mouse.example"
        "?secret=ABC&issuer=id.example%3A8443"
    )
