"""Passkeys: made by who is signed in, and then all that it takes to sign in."""

import asyncio
import json
import socket

import pytest

from idp.config.settings import Config
from idp.identity.factors import webauthn
from idp.mail import messages
from idp.records import EVENTS, PASSKEYS, USED_VALUES, USERS, Email
from storage import Update
from tests.support.browsers.authenticator import BE, BS, Device, EdDSAKey, RS256Key
from tests.support.browsers.visitor import Visitor
from tests.support.clock import SteppingClock
from tests.support.management.callers import instance_owner
from tests.support.samples.policies import address
from tests.support.service import shared_key, start_server, stop_server
from tests.support.sign_in.passkeys import NEW, at_name, claims, enrol, options_of, sign_in
from tests.support.sign_in.steps import Seen, text_of
from tests.support.store import stored

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


async def test_a_key_on_one_device_is_distinguished_from_one_that_may_be_copied(
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


async def test_a_user_who_has_a_passkey_is_asked_for_it_after_the_password(
    new_visitor, demo, server, device
):
    other = new_visitor()
    page = await other.sign_in(demo.authorize_url(), *server.user)
    assert (page.name, page.inputs) == ("passkey", {"loginName": "demo"})
    options = options_of(page)
    passkey = await stored.only(server.store, PASSKEYS)
    assert [each["id"] for each in options["allowCredentials"]] == [passkey.credential_id]

    told = await claims(
        other, demo, await other.submit(page, passkey=device.get(options, user_handle=None))
    )

    assert told["amr"] == ["pwd", "hwk", "user", "mfa"]
    assert told["acr"] == "urn:idp:acr:passkey"


async def test_another_persons_passkey_is_no_second_factor(
    visitor, new_visitor, demo, server, device
):
    minnie, thief = await server.copy_user("minnie"), new_visitor()
    await demo.tokens(thief, *minnie)
    theirs, _ = await enrol(thief, server)
    other = new_visitor()
    page = await other.sign_in(demo.authorize_url(), *server.user)
    before = await stored.everything(server.store)

    refused = await other.send(page, passkey=theirs.get(options_of(page)))

    assert (refused.status, refused.name) == (400, "passkey")
    assert "Try again with another one" in text_of(refused)
    assert await stored.everything(server.store) == before


async def test_a_password_is_raised_to_a_passkey_where_the_application_demands_it(
    new_visitor, demo, server, device
):
    demanded = json.dumps(
        {"id_token": {"acr": {"essential": True, "values": ["urn:idp:acr:passkey"]}}}
    )
    other = new_visitor()
    page = await other.sign_in(demo.authorize_url(claims=demanded), *server.user)
    assert page.name == "passkey"

    page = await other.submit(page, passkey=device.get(options_of(page)))

    assert (await claims(other, demo, page))["acr"] == "urn:idp:acr:passkey"


async def test_the_password_page_leads_to_the_passkey_when_the_person_is_to_confirm_it_again(
    visitor, demo, server, device
):
    page = await visitor.open(demo.authorize_url(prompt="login"))
    assert page.name == "password"
    (link,) = [each for each in Seen(page).links if "/ui/login/passkey?" in each]

    page = await visitor.open(link)
    page = await visitor.submit(page, passkey=device.get(options_of(page)))

    assert "code" in page.answer


async def test_where_the_password_may_not_be_left_out_it_is_not_offered_or_taken(
    new_visitor, demo, server, device
):
    other = new_visitor()
    answer = device.get(options_of(page := await at_name(other, demo)))
    await forbid_passwordless(server, new_visitor())

    refused = await other.send(page, passkey=answer)

    assert refused.status == 400
    shown = await at_name(new_visitor(), demo)
    assert "data-passkey" not in shown.text
    page = await other.submit(refused, loginName="demo")
    assert "/ui/login/passkey?" not in page.text
    page = await other.submit(page, password=server.user[1])
    assert page.name == "passkey"  # as a second factor it still counts


async def forbid_passwordless(server, visitor):
    owner = await instance_owner(server, visitor)
    policy = {"passwordlessType": "PASSWORDLESS_TYPE_NOT_ALLOWED"}
    page = await owner.request("PUT", address("login", "admin"), policy)
    assert page.status == 200, page.text
    server.clock.advance(6)  # what a page follows is up to five seconds old


async def demo_user(server):
    page = await server.store.find(USERS, {"login_key": server.user[0]})
    return page.records[0]


async def test_a_new_passkey_is_reported_by_mail_and_in_the_log(visitor, demo, server):
    await demo.tokens(visitor, *server.user)
    user = await demo_user(server)
    await server.store.commit(
        Update(USERS, user.id, set={"email": Email(address="demo@acme.example", is_verified=True)})
    )

    await enrol(visitor, server)

    mails = await messages.held(server.service)
    told = [one.mail_message for one in mails if one.kind == "passkey_added"]
    assert [one.to for one in told] == ["demo@acme.example"]
    assert "/ui/account" in told[0].text
    events = {one.type async for one in server.store.scan(EVENTS)}
    assert {"passkey.created", "user.passkey_added"} <= events


async def test_a_passkey_is_listed_by_its_name_and_gets_another(visitor, server, device):
    page = await visitor.open(LIST)
    assert "Phone" in text_of(page)
    (rename,) = [each for each in Seen(page).links if each.endswith("/rename")]
    form = await visitor.open(rename)

    refused = await visitor.send(form, name="   ")
    page = await visitor.submit(form, name="Telephone")

    assert (refused.status, refused.name) == (400, "account/passkey-name")
    assert "Telephone" in text_of(page)
    assert (await stored.only(server.store, PASSKEYS)).sequence == 2


async def remove(visitor):
    page = await visitor.open(LIST)
    (link,) = [each for each in Seen(page).links if each.endswith("/remove")]
    page = await visitor.open(link)
    assert page.name == "account/form", page.text
    return await visitor.submit(page)


async def test_one_that_is_removed_opens_nothing_and_other_browsers_are_signed_out(
    visitor, new_visitor, demo, server, device
):
    elsewhere = new_visitor()
    await sign_in(elsewhere, demo, device)

    page = await remove(visitor)

    assert page.name == "account/passkeys", page.text
    assert not [one async for one in server.store.scan(PASSKEYS)]
    assert (await visitor.open(LIST)).name == "account/passkeys"
    assert (await demo.silently(elsewhere))["error"] == "login_required"
    page = await new_visitor().sign_in(demo.authorize_url(), *server.user)
    assert "code" in page.answer, "the password is all that it takes again"


async def test_the_last_way_to_sign_in_stays(visitor, server, device):
    user = await demo_user(server)
    await server.store.commit(Update(USERS, user.id, set={"password": None}))
    before = await stored.everything(server.store)

    page = await remove(visitor)

    assert (page.status, page.name) == (400, "account/form")
    assert "your only way to sign in" in text_of(page)
    assert await stored.everything(server.store) == before


async def test_another_persons_passkey_is_not_there(visitor, new_visitor, demo, server, device):
    other = new_visitor()
    await demo.tokens(other, *(await server.copy_user("minnie")))
    page = await visitor.open(LIST)
    ways = [each for each in Seen(page).links if each.endswith(("/remove", "/rename"))]

    assert len(ways) == 2
    for way in ways:
        assert (await other.open(way)).status == 404


async def test_of_two_answers_to_one_challenge_one_counts(new_visitor, demo, server, device):
    other = new_visitor()
    page = await at_name(other, demo)
    answer = device.get(options_of(page))

    pages = await asyncio.gather(*(other.send(page, passkey=answer) for _ in range(2)))

    assert {each.status for each in pages} <= {303, 403}
    opened = [one async for one in server.store.scan(EVENTS) if one.type == "session.opened"]
    assert len(opened) == 3  # with the password, with the new stamp, and this one
    assert len([one async for one in server.store.scan(USED_VALUES)]) == 2


async def test_of_two_people_who_register_one_key_at_once_one_has_it(
    visitor, new_visitor, demo, server, signed_in
):
    other, key = new_visitor(), Device(server.issuer)
    await demo.tokens(other, *(await server.copy_user("minnie")))
    forms = [(each, await each.open(NEW)) for each in (visitor, other)]
    answers = [key.create(options_of(page)) for _, page in forms]

    pages = await asyncio.gather(
        *(
            each.send(page, deviceName="Phone", passkey=answer)
            for (each, page), answer in zip(forms, answers, strict=True)
        )
    )

    assert sorted(each.status for each in pages) == [303, 400]
    await stored.only(server.store, PASSKEYS)


@pytest.mark.parametrize(
    ("issuer", "found"),
    [
        ("https://login.example.com", ("login.example.com", "https://login.example.com")),
        ("https://Login.example.com:443", ("login.example.com", "https://login.example.com")),
        ("https://example.com:8443/id", ("example.com", "https://example.com:8443")),
        ("http://localhost:8080", ("localhost", "http://localhost:8080")),
        ("http://idp.localhost", ("idp.localhost", "http://idp.localhost")),
        ("http://127.0.0.1:8080", None),
        ("https://[2001:db8::1]", None),
        ("https://192.0.2.7", None),
        ("http://login.example.com", None),
    ],
)
def test_passkeys_belong_to_a_host_with_a_name_and_a_safe_way_to_it(issuer, found):
    party = webauthn.relying_party(Config(issuer=issuer))

    assert (party and (party.id, party.origin)) == found


async def test_at_an_ip_address_nobody_is_offered_any(new_visitor, io_loop):
    clock = SteppingClock()
    listening = socket.create_server(("127.0.0.1", 0))
    issuer = f"http://127.0.0.1:{listening.getsockname()[1]}"
    server, http = await start_server(clock, listening, issuer=issuer)
    visitor = Visitor(issuer)
    try:
        page = await at_name(visitor, server.demo())
        assert "data-passkey" not in page.text
        refused = await visitor.send(page, passkey="{}")
        assert refused.status == 400
        await server.demo().tokens(visitor, *server.user)
        assert NEW not in (await visitor.open(LIST)).text
        page = await visitor.open(NEW)
        assert page.name == "account/passkeys"
    finally:
        await visitor.close()
        await stop_server(server, http)
