"""What browsers answer for devices: whatever it is, it is read or refused, and soon."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idp.config.settings import Config
from idp.foundation import base64url
from idp.identity.factors import webauthn
from idp.identity.factors.webauthn import WebAuthnRefused
from tests.support.browsers.authenticator import Device, encode

PARTY = webauthn.relying_party(Config(issuer="https://login.example.com"))
MADE = {
    "rp": {"id": PARTY.id},
    "user": {"id": base64url.encode(b"user")},
    "challenge": base64url.encode(b"challenge"),
}
SIGNED = {"rpId": PARTY.id, "challenge": base64url.encode(b"challenge")}

# What CBOR can hold, and more deeply nested than a device would.
whole = st.integers(-(2**64), 2**64 - 1)
cbor = st.recursive(
    whole | st.binary(max_size=40) | st.text(max_size=10) | st.booleans(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(whole, inner, max_size=4),
    max_leaves=20,
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


def test_what_a_device_makes_and_signs_is_read_and_fits():
    device = Device(PARTY.origin)

    made = webauthn.read_credential(PARTY, device.create(MADE))
    signed = webauthn.read_assertion(PARTY, device.get(SIGNED))

    webauthn.check_signature(signed, made.public_key)
    assert (made.id, signed.id) == (device.id, device.id)
    assert made.challenge == signed.challenge == b"challenge"


def test_a_transport_that_nobody_knows_yet_is_left_out():
    told = {"response": {"transports": ["usb", "telepathy", "usb"]}}

    made = webauthn.read_credential(PARTY, Device(PARTY.origin).create(MADE, **told))

    assert made.transports == ["usb"]


@settings(max_examples=25, deadline=None)
@given(octets=st.binary(max_size=300) | cbor.map(encode))
def test_any_bytes_are_read_or_refused(octets):
    device = Device(PARTY.origin)
    for answer in (
        device.create(MADE, attestation=octets),
        device.create(MADE, cose=octets),
    ):
        with pytest.raises(WebAuthnRefused):
            webauthn.read_credential(PARTY, answer)
    with pytest.raises(WebAuthnRefused):
        webauthn.read_assertion(PARTY, device.get(SIGNED, data=octets))


@pytest.mark.full
@settings(max_examples=25, deadline=None)
@given(key=st.dictionaries(st.sampled_from([1, 2, 3, 4, -1, -2, -3]), cbor, max_size=6))
def test_any_key_is_usable_or_refused(key):
    with pytest.raises(WebAuthnRefused):
        webauthn.read_credential(PARTY, Device(PARTY.origin).create(MADE, cose={**key, 3: -7}))


@settings(max_examples=25, deadline=None)
@given(answer=values | st.dictionaries(st.sampled_from(["id", "type", "response"]), values))
def test_any_json_is_refused(answer):
    for read in (webauthn.read_credential, webauthn.read_assertion):
        with pytest.raises(WebAuthnRefused):
            read(PARTY, json.dumps(answer))


@settings(max_examples=25, deadline=None)
@given(told=values | st.dictionaries(st.sampled_from(["type", "origin", "challenge"]), values))
def test_any_client_data_is_refused(told):
    wrong = {"client_octets": json.dumps(told).encode()}
    with pytest.raises(WebAuthnRefused):
        webauthn.read_assertion(PARTY, Device(PARTY.origin).get(SIGNED, **wrong))
