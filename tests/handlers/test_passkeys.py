"""Passkeys: made by who is signed in, and then all that it takes to sign in."""

import pytest

from tests.handlers.passkeys import NEW, claims, enrol, options_of, sign_in
from tests.support.authenticator import BE, BS, Device, EdDSAKey, RS256Key
from tests.support.service import shared_key

LIST = "/ui/account/passkeys"


@pytest.fixture
def signed_in(io_loop, visitor, demo, server):
    """The visitor is signed in with a password."""
    return io_loop.run_sync(lambda: demo.tokens(visitor, *server.user))


@pytest.fixture
def device(io_loop, visitor, server, signed_in):
    """Theirs, with a passkey."""
    made, page = io_loop.run_sync(lambda: enrol(visitor, server))
    assert page.name == "account/passkeys", page.text
    return made


async def test_a_browser_is_asked_for_a_key_that_verifies_its_user(visitor, server, signed_in):
    options = options_of(await visitor.open(NEW))

    assert options["rp"] == {"id": "localhost", "name": "localhost"}
    assert options["user"]["name"] == "demo"
    assert len(options["user"]["id"]) == 43
    assert [each["alg"] for each in options["pubKeyCredParams"]] == [-7, -8, -257]
    assert options["attestation"] == "none"
    assert options["authenticatorSelection"] == {
        "residentKey": "required",
        "requireResidentKey": True,
        "userVerification": "required",
    }


async def test_a_passkey_signs_its_owner_in_without_a_name_or_a_password(
    new_visitor, demo, server, device
):
    other = new_visitor()

    page = await sign_in(other, demo, device)

    assert "code" in page.answer


async def test_a_key_on_one_device_is_told_from_one_that_may_be_copied(
    visitor, new_visitor, demo, server, signed_in
):
    synced = Device(server.issuer, flags=0x05 | BE | BS)
    for device, kind in ((Device(server.issuer), "hwk"), (synced, "swk")):
        await enrol(visitor, server, device)
        other = new_visitor()
        told = await claims(other, demo, await sign_in(other, demo, device))

        assert told["amr"] == [kind, "user", "mfa"]
        assert told["acr"] == "urn:idp:acr:passkey"


@pytest.mark.parametrize("key", [EdDSAKey(), RS256Key(shared_key(0))], ids=["EdDSA", "RS256"])
async def test_each_algorithm_that_is_asked_for_is_taken(
    visitor, new_visitor, demo, server, signed_in, key
):
    device, _ = await enrol(visitor, server, Device(server.issuer, key=key))

    assert "code" in (await sign_in(new_visitor(), demo, device)).answer
