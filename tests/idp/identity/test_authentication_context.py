"""Classes of sign-in: each is as good as the weaker ones, and nothing is told that was not so."""

from __future__ import annotations

import pytest

from idp.config.settings import Config
from idp.identity import authentication_context
from idp.identity.authentication_context import PASSKEY, PASSWORD, TWO_FACTORS


@pytest.mark.promise("authorization: claims")
@pytest.mark.parametrize(
    ("reached", "wanted", "told"),
    [
        (PASSWORD, [], PASSWORD),
        (PASSWORD, [PASSWORD], PASSWORD),
        (PASSWORD, [PASSKEY, TWO_FACTORS], PASSWORD),
        (PASSWORD, [PASSKEY, PASSWORD], PASSWORD),
        (TWO_FACTORS, [PASSKEY], TWO_FACTORS),
        (TWO_FACTORS, [PASSKEY, PASSWORD], PASSWORD),
        (TWO_FACTORS, [TWO_FACTORS, PASSWORD], TWO_FACTORS),
        (PASSKEY, [TWO_FACTORS], TWO_FACTORS),
        (PASSKEY, ["urn:x"], PASSKEY),
        ("urn:x", [PASSWORD], "urn:x"),
        ("urn:x", ["urn:x"], "urn:x"),
    ],
)
def test_the_first_requested_class_that_is_met_is_returned_else_what_was_reached(
    reached, wanted, told
):
    assert authentication_context.acr_claim(reached, wanted) == told


def test_a_requested_class_can_be_met_if_one_of_the_offered_classes_does():
    here, at_address = Config(), Config(issuer="http://127.0.0.1:8080")

    assert authentication_context.can_meet(here, [PASSKEY])
    assert authentication_context.can_meet(at_address, [PASSKEY, PASSWORD])
    assert not authentication_context.can_meet(at_address, [PASSKEY])
    assert not authentication_context.can_meet(here, ["urn:x"])
    assert not authentication_context.can_meet(here, [])


@pytest.mark.parametrize(
    ("proofs", "reached", "told"),
    [
        ([], "", []),
        (["otp"], "", ["otp"]),
        (["pwd"], PASSWORD, ["pwd"]),
        (["pwd", "otp"], TWO_FACTORS, ["pwd", "otp", "mfa"]),
        (["otp", "pwd"], TWO_FACTORS, ["otp", "pwd", "mfa"]),
        (["pwd", "hwk", "user"], TWO_FACTORS, ["pwd", "hwk", "user", "mfa"]),
        (["hwk", "user"], "", ["hwk", "user"]),
        (["swk", "user", "mfa"], PASSKEY, ["swk", "user", "mfa"]),
        (["pwd", "hwk", "user", "mfa"], PASSKEY, ["pwd", "hwk", "user", "mfa"]),
    ],
)
def test_the_class_follows_from_the_methods_and_they_from_the_claims(proofs, reached, told):
    assert authentication_context.acr_of(proofs) == reached
    assert authentication_context.amr(proofs) == told
    assert authentication_context.methods_of(told, reached) == proofs


def test_of_several_classes_the_weakest_and_the_strongest_are_found():
    assert authentication_context.weakest(["urn:x"]) == PASSWORD
    assert authentication_context.weakest([PASSKEY, TWO_FACTORS]) == TWO_FACTORS
    assert authentication_context.strongest(PASSWORD, PASSKEY, TWO_FACTORS) == PASSKEY
    assert authentication_context.strongest("urn:x", PASSWORD) == PASSWORD
