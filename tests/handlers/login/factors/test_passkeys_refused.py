"""What no device says and some attacker might: nothing of it opens an account, or is kept."""

import os

import pytest

from idp.foundation import base64url
from idp.identity.factors import challenges
from idp.identity.factors.webauthn import WebAuthnRefused
from idp.records import PASSKEYS
from tests.support.browsers.authenticator import AT, BS, UP, UV, Device, ES256Key, RS256Key, encode
from tests.support.service import shared_key
from tests.support.sign_in.passkeys import NEW, at_name, enrol, options_of
from tests.support.sign_in.steps import text_of
from tests.support.store import stored

SAID = "That passkey can't be used here. Try again or use your password."
NOT_ADDED = "This passkey can't be added"
OTHER = Device("https://other.example")
POINT = ES256Key().cose
RSA = RS256Key(shared_key(0)).cose
DEEP = b"\x81" * 5000 + b"\x00"

# What the browser says of the ceremony, for either.
CLIENT_DATA = {
    "another origin": {"client_data": {"origin": "https://localhost.example"}},
    "the origin with a path": {"client_data": {"origin": "http://localhost/"}},
    "no origin": {"client_data": {"origin": None}},
    "another challenge": {"client_data": {"challenge": base64url.encode(os.urandom(40))}},
    "a short challenge": {"client_data": {"challenge": "AAAA"}},
    "no challenge": {"client_data": {"challenge": ""}},
    "a challenge with padding": {"client_data": {"challenge": "AA=="}},
    "a challenge that is no text": {"client_data": {"challenge": 5}},
    "the other ceremony": {"client_data": {"type": "payment.get"}},
    "a frame of another site": {"client_data": {"crossOrigin": True}},
    "a site around it": {"client_data": {"topOrigin": "https://evil.example"}},
    "client data that is no object": {"client_octets": b"[]"},
    "client data that is no JSON": {"client_octets": b"{"},
    "client data that is empty": {"response": {"clientDataJSON": ""}},
    "client data with a name twice": {"client_octets": b'{"type": 1, "type": 2}'},
    "client data that is not UTF-8": {"client_octets": b"\xff"},
    "very long client data": {"client_octets": b" " * 5000},
}
# What the device says, for either.
DEVICE = {
    "another host": {"host": "localhost.example"},
    "nobody there": {"flags": UV},
    "nobody verified": {"flags": UP},
    "a copy of what can't be copied": {"flags": UP | UV | BS},
}
# The answer around it, for either.
ANSWER = {
    "another type": {"answer": {"type": "password"}},
    "no type": {"answer": {"type": None}},
    "more than there should be": {"answer": {"more": 1}},
    "a response that is a list": {"answer": {"response": []}},
    "no response": {"answer": {"response": None}},
    "an id that is a number": {"answer": {"id": 5}},
    "an id with padding": {"answer": {"id": "AA=="}},
    "no id": {"answer": {"id": ""}},
    "a very long id": {"answer": {"id": "A" * 2000}},
}
SIGNED = {
    "another key": {"signature": OTHER.key.sign(b"")},
    "a signature that is none": {"signature": b"\0"},
    "no signature": {"response": {"signature": ""}},
    "a signature of a megabyte": {"signature": b"\0" * 1500},
    "another user": {"user_handle": os.urandom(32)},
    "no user": {"user_handle": None},
    "a very long user": {"user_handle": b"\0" * 65},
    "data that is too short": {"data": b"\0" * 36},
    "data that is too long": {"data": b"\0" * 38},
    "data with a key that is not there": {"flags": UP | UV | AT},
    "extensions that are not there": {"flags": UP | UV | 0x80},
    "an unknown passkey": {"answer": {"id": base64url.encode(b"unknown")}},
    "the kind that may be copied": {"flags": UP | UV | 0x08},
}
MADE = {
    "no key": {"attestation": encode({"fmt": "none", "attStmt": {}, "authData": b"\0" * 37})},
    "attestation that is a list": {"attestation": encode([1])},
    "attestation that is a number": {"attestation": encode(5)},
    "attestation without data": {"attestation": encode({"fmt": "none", "attStmt": {}})},
    "attestation whose data is text": {
        "attestation": encode({"fmt": "none", "attStmt": {}, "authData": "x"})
    },
    "attestation that ends": {"attestation": b"\xa3\x63fmt"},
    "attestation with more behind it": {"attestation": encode({}) + b"\0"},
    "attestation of a kind that CBOR lacks": {"attestation": b"\xff"},
    "attestation in a thousand lists": {"attestation": DEEP},
    "a list of everything there is": {"attestation": b"\x9b" + b"\xff" * 8},
    "a key named by a list": {"attestation": b"\xa1\x81\x00\x00"},
    "very long attestation": {"attestation": b"\0" * 17000},
    "another id than the answer's": {"answer_id": b"another"},
    "an empty id": {"id": b"", "answer_id": b"x"},
    "a key that is text": {"cose": b"\x61x"},
    "a key that ends": {"cose": encode(POINT)[:-1]},
    "a key without an algorithm": {"cose": {1: 2}},
    "an algorithm that is a list": {"cose": {**POINT, 3: [1]}},
    "an algorithm that was not asked for": {"cose": {**POINT, 3: -47, -1: 8}},
    "a key of another type": {"cose": {**POINT, 1: 3}},
    "a point off the curve": {"cose": {**POINT, -2: b"\1" * 32}},
    "a short point": {"cose": {**POINT, -2: b"\1"}},
    "a point that is a number": {"cose": {**POINT, -2: 5}},
    "another curve": {"cose": {**POINT, -1: 2}},
    "an EdDSA key that is too short": {"cose": {1: 1, 3: -8, -1: 6, -2: b"\1"}},
    "an RSA key that is too short": {"cose": {**RSA, -1: b"\xff" * 64}},
    "an RSA key that is too long": {"cose": {**RSA, -1: b"\xff" * 1024}},
    "an RSA exponent that takes for ever": {"cose": {**RSA, -2: b"\xff" * 256}},
    "an RSA exponent of one": {"cose": {**RSA, -2: b"\1"}},
    "an RSA modulus that is text": {"cose": {**RSA, -1: "n"}},
}
RAW = {
    "nothing": "",
    "no JSON": "{",
    "a number": "5",
    "a list": "[]",
    "null": "null",
    "NaN": "NaN",
    "a name twice": '{"id": "AA", "id": "AA"}',
    "half of a character": '{"id": "\\ud800"}',
    "brackets without an end": "[" * 15_000,
    "very much": "x" * 50_000,
}


async def passkey_of(visitor, server):
    device, page = await enrol(visitor, server)
    assert page.name == "account/passkeys", page.text
    return device


@pytest.fixture
def device(io_loop, visitor, demo, server):
    io_loop.run_sync(lambda: demo.tokens(visitor, *server.user))
    return io_loop.run_sync(lambda: passkey_of(visitor, server))


@pytest.mark.full
async def test_nothing_but_what_the_device_really_says_signs_anybody_in(
    new_visitor, demo, server, device
):
    other = new_visitor()
    page = await at_name(other, demo)
    before = await stored.everything(server.store)

    for name, wrong in {**CLIENT_DATA, **DEVICE, **ANSWER, **SIGNED}.items():
        answer = device.get(options_of(page), **wrong)
        refused = await other.send(page, passkey=answer)
        assert (refused.status, SAID in text_of(refused)) == (400, True), name
    for name, answer in RAW.items():
        refused = await other.send(page, passkey=answer or " ")
        assert (refused.status, SAID in text_of(refused)) == (400, True), name

    assert await stored.everything(server.store) == before
    assert "code" in (await other.submit(page, passkey=device.get(options_of(page)))).answer


@pytest.mark.full
async def test_nothing_but_what_the_device_really_made_is_added(visitor, demo, server):
    await demo.tokens(visitor, *server.user)
    device = Device(server.issuer)
    page = await visitor.open(NEW)
    before = await stored.everything(server.store)

    for name, wrong in {**CLIENT_DATA, **DEVICE, **ANSWER, **MADE}.items():
        answer = device.create(options_of(page), **wrong)
        refused = await visitor.send(page, deviceName="Phone", passkey=answer)
        assert (refused.status, NOT_ADDED in text_of(refused)) == (400, True), name
    for name, answer in RAW.items():
        refused = await visitor.send(page, deviceName="Phone", passkey=answer)
        assert (refused.status, NOT_ADDED in text_of(refused)) == (400, True), name

    assert await stored.everything(server.store) == before
    answer = device.create(options_of(page))
    added = await visitor.submit(page, deviceName="Phone", passkey=answer)
    assert added.name == "recovery-codes"


async def test_an_answer_of_a_megabyte_is_too_much(visitor, demo, server, device):
    page = await visitor.open(NEW)

    refused = await visitor.send(page, deviceName="Phone", passkey="x" * 1_000_000)

    assert refused.status == 413


async def test_an_answer_for_one_ceremony_is_none_for_the_other(
    visitor, new_visitor, demo, server, device
):
    page = await visitor.open(NEW)
    options = options_of(page)
    signed = device.get({"rpId": "localhost", "challenge": options["challenge"]})

    refused = await visitor.send(page, deviceName="Phone", passkey=signed)

    assert NOT_ADDED in text_of(refused)


async def test_a_challenge_counts_in_the_sign_in_and_the_browser_that_it_was_made_for(
    new_visitor, demo, server, device
):
    one, other = new_visitor(), new_visitor()
    pages = [await at_name(one, demo), await at_name(one, demo), await at_name(other, demo)]
    answer = device.get(options_of(pages[0]))

    for visitor, page in ((one, pages[1]), (other, pages[2])):
        refused = await visitor.send(page, passkey=answer)
        assert SAID in text_of(refused)

    assert "code" in (await one.submit(pages[0], passkey=answer)).answer


async def test_a_challenge_of_the_account_counts_at_no_sign_in(
    visitor, new_visitor, demo, server, device
):
    options = options_of(await visitor.open(NEW))
    other = new_visitor()
    page = await at_name(other, demo)

    answer = device.get({"rpId": "localhost", "challenge": options["challenge"]})

    assert SAID in text_of(await other.send(page, passkey=answer))


async def test_a_challenge_is_too_old_after_an_hour(server):
    challenge = challenges.new(server.service, "get", "a flow")
    server.clock.advance(3599)
    challenges.use_write(server.service, "get", "a flow", challenge)
    server.clock.advance(1)

    with pytest.raises(WebAuthnRefused, match="too old"):
        challenges.use_write(server.service, "get", "a flow", challenge)


async def test_an_answer_counts_once(new_visitor, demo, server, device):
    other = new_visitor()
    page = await at_name(other, demo)
    answer = device.get(options_of(page))
    await other.submit(page, passkey=answer)
    again = await at_name(other, demo, prompt="select_account")

    refused = await other.send(again, passkey=answer)

    assert SAID in text_of(refused)


async def test_a_device_that_counts_backwards_is_refused_and_reported(
    new_visitor, demo, server, device
):
    other = new_visitor()
    device.count = 7
    first = await at_name(other, demo)
    assert "code" in (await other.submit(first, passkey=device.get(options_of(first)))).answer

    for count in (8, 7, 0):
        copy = new_visitor()
        page = await at_name(copy, demo)
        refused = await copy.send(page, passkey=device.get(options_of(page), count=count))
        assert SAID in text_of(refused)

    passkey = await stored.only(server.store, PASSKEYS)
    assert (passkey.sign_count, passkey.sequence) == (8, 4)
    told = [one.type for one in (await stored.everything(server.store))["events"].values()]
    assert told.count("passkey.refused") == 3


async def test_a_key_is_one_persons(visitor, new_visitor, demo, server, device):
    other = new_visitor()
    await demo.tokens(other, *(await server.copy_user("minnie")))

    _, page = await enrol(other, server, device)

    assert (page.status, NOT_ADDED in text_of(page)) == (400, True)
    assert (await stored.only(server.store, PASSKEYS)).name == "Phone"
    assert page.inputs["deviceName"] == "Phone"
