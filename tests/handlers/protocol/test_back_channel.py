"""Applications are notified of a session's end (OpenID Connect Back-Channel Logout 1.0)."""

from __future__ import annotations

import asyncio
import dataclasses

import pytest
from msgspec import structs

from idp.identity.users import admin_recovery
from idp.oauth.endpoints import back_channel
from idp.outgoing.http import Outgoing
from idp.records import APPLICATIONS, LOGOUT_MESSAGES, SESSION_CLIENTS
from storage import Update
from tests.support.attacks.forged import part
from tests.support.management import callers
from tests.support.store.both_stores import on_both_stores, store_as_marked  # noqa: F401
from tests.support.store.stored import only

END_SESSION = "/oidc/v1/end_session"


async def sign_out(server, visitor, client, tokens):
    page = await visitor.get(client.logout_url(id_token_hint=tokens["id_token"], **NO_ADDRESS))
    await server.service.background_tasks.finished()
    return page


NO_ADDRESS = {"post_logout_redirect_uri": None}


async def messages(server):
    return [one async for one in server.store.scan(LOGOUT_MESSAGES)]


async def signed_out(server, visitor, client):
    """Sign in and out; what is kept of the message, after the first attempt."""
    tokens = await client.tokens(visitor, *server.user)
    await sign_out(server, visitor, client, tokens)
    return await only(server.store, LOGOUT_MESSAGES)


# what is sent


@pytest.mark.full
async def test_a_confirmed_logout_is_reported_too(server, visitor, new_listener):
    client, receiver = await new_listener()
    await client.tokens(visitor, *server.user)
    page = await visitor.open(END_SESSION)
    await visitor.submit(page, decision="logout")
    await server.service.background_tasks.finished()

    assert len(receiver.calls) == 1


@pytest.mark.full
async def test_a_new_password_notifies_clients_of_the_end_of_every_session_of_its_user(
    server, visitor, new_visitor, new_listener
):
    client, receiver = await new_listener()
    elsewhere, of_another = new_visitor(), new_visitor()
    sessions = [await client.tokens(browser, *server.user) for browser in (visitor, elsewhere)]
    await client.tokens(of_another, *await server.copy_user("otto"))
    page = await visitor.open("/ui/account/password")
    new = "an afternoon by the sea"
    done = await visitor.submit(page, currentPassword=server.user[1], newPassword=new)
    await back_channel.deliver_due(server.service)

    assert done.status == 200
    ended = sorted(part(tokens["id_token"], 1)["sid"] for tokens in sessions)
    assert sorted(part(call.token, 1)["sid"] for call in receiver.calls) == ended


@pytest.mark.parametrize("end", ["deactivate", "lock", "reset"])
async def test_a_user_who_is_shut_out_is_signed_out_of_applications_too(
    server, visitor, new_listener, end
):
    client, receiver = await new_listener()
    tokens = await client.tokens(visitor, *server.user)
    user_id = part(tokens["id_token"], 1)["sub"]
    if end == "reset":
        await admin_recovery.reset_password(server.service, server.user[0], actor="a test")
    else:
        owner = await callers.instance_owner(server, visitor)
        assert (await owner.post(f"/v2/users/{user_id}/{end}", {})).status == 200
    await back_channel.deliver_due(server.service)

    (call,) = receiver.calls
    assert part(call.token, 1)["sid"] == part(tokens["id_token"], 1)["sid"]


async def test_an_application_whose_tokens_have_long_expired_is_notified_all_the_same(
    server, visitor, new_listener
):
    (wiki, at_wiki), (mail, _) = await new_listener(), await new_listener(name="Mail")
    await wiki.tokens(visitor, *server.user)
    for _ in range(4):
        server.clock.advance(10 * 3600)
        assert "code" in await mail.silently(visitor)
    page = await visitor.open(END_SESSION)
    await visitor.submit(page, decision="logout")
    await server.service.background_tasks.finished()

    assert len(at_wiki.calls) == 1


async def test_a_logout_by_a_server_is_reported_too(server, visitor, new_visitor, new_listener):
    client, receiver = await new_listener()
    tokens = await client.tokens(visitor, *server.user)
    await sign_out(server, new_visitor(), client, tokens)

    (call,) = receiver.calls
    assert part(call.token, 1)["sid"] == part(tokens["id_token"], 1)["sid"]


async def test_many_sign_ins_at_an_application_are_one_message(server, visitor, new_listener):
    client, receiver = await new_listener()
    tokens = await client.tokens(visitor, *server.user)
    await asyncio.gather(*[client.silently(visitor) for _ in range(4)])
    known = [one async for one in server.store.scan(SESSION_CLIENTS)]
    await sign_out(server, visitor, client, tokens)

    assert len(known) == 1
    assert len(receiver.calls) == 1


async def test_no_other_user_is_notified(server, visitor, new_visitor, new_listener, demo):
    (other, at_other), (client, at_client) = await new_listener(name="Other"), await new_listener()
    elsewhere = new_visitor()
    await other.tokens(elsewhere, *server.user)
    tokens = await demo.tokens(visitor, *server.user)
    await client.tokens(visitor, *server.user, prompt="login")
    await server.store.commit(
        Update(APPLICATIONS, client.client_id, set={"back_channel_logout_uri": None})
    )
    await sign_out(server, visitor, demo, tokens)

    assert (at_other.calls, at_client.calls) == ([], [])
    assert await messages(server) == []


@pytest.mark.parametrize("change", [{"state": "inactive"}, {"back_channel_logout_uri": None}])
async def test_an_application_that_was_switched_off_meanwhile_is_sent_nothing(
    server, visitor, new_listener, change
):
    client, receiver = await new_listener(500)
    await signed_out(server, visitor, client)
    await server.store.commit(Update(APPLICATIONS, client.client_id, set=change))
    server.clock.advance(31)
    await back_channel.deliver_due(server.service)

    assert len(receiver.calls) == 1
    assert (await only(server.store, LOGOUT_MESSAGES)).state == "refused"


@pytest.mark.promise("logout: repeated logout tokens")
async def test_discovery_says_that_it_is_done(visitor):
    document = (await visitor.get("/.well-known/openid-configuration")).json()

    assert document["backchannel_logout_supported"] is True
    assert document["backchannel_logout_session_supported"] is True


# nobody waits, and nothing is lost


@pytest.mark.promise("logout: applications")
async def test_the_browser_does_not_wait_for_an_application(server, visitor, new_listener):
    client, receiver = await new_listener(holds=True)
    tokens = await client.tokens(visitor, *server.user)
    page = await visitor.get(client.logout_url(id_token_hint=tokens["id_token"], **NO_ADDRESS))
    meanwhile = await only(server.store, LOGOUT_MESSAGES)
    receiver.release()
    await server.service.background_tasks.finished()

    assert page.status == 303
    assert meanwhile.state == "waiting"
    assert (await only(server.store, LOGOUT_MESSAGES)).state == "delivered"


@pytest.mark.promise("logout: repeated logout tokens")
async def test_what_an_ended_process_did_not_send_is_sent_later(
    server, visitor, new_listener, monkeypatch
):
    client, receiver = await new_listener()
    monkeypatch.setattr(back_channel, "send_soon", lambda *_: None)
    await signed_out(server, visitor, client)
    assert receiver.calls == []
    await back_channel.deliver_due(server.service)

    assert len(receiver.calls) == 1


async def test_of_several_that_deliver_at_once_one_does(
    server, visitor, new_listener, monkeypatch
):
    client, receiver = await new_listener()
    monkeypatch.setattr(back_channel, "send_soon", lambda *_: None)
    await signed_out(server, visitor, client)
    await asyncio.gather(*[back_channel.deliver_due(server.service) for _ in range(8)])

    assert len(receiver.calls) == 1


@pytest.mark.full
async def test_more_messages_than_one_look_finds_are_all_sent(
    server, visitor, new_listener, monkeypatch
):
    clients = [await new_listener(name=f"Application {number}") for number in range(7)]
    monkeypatch.setattr(back_channel, "send_soon", lambda *_: None)
    monkeypatch.setattr(back_channel, "_PAGE", 2)
    tokens = await clients[0][0].tokens(visitor, *server.user)
    for client, _ in clients[1:]:
        assert "code" in await client.silently(visitor)
    await sign_out(server, visitor, clients[0][0], tokens)
    await back_channel.deliver_due(server.service)

    assert [len(receiver.calls) for _, receiver in clients] == [1] * 7


# what an answer means


@pytest.mark.parametrize(
    ("status", "state"),
    [(200, "delivered"), (204, "delivered"), (400, "refused")],
)
async def test_a_final_answer_is_the_last_call(server, visitor, new_listener, status, state):
    client, receiver = await new_listener(status)
    message = await signed_out(server, visitor, client)
    for delay in back_channel.DELAYS:
        server.clock.advance(delay)
        await back_channel.deliver_due(server.service)

    assert message.state == state
    assert len(receiver.calls) == 1


@pytest.mark.promise("logout: repeated logout tokens")
@pytest.mark.parametrize("status", [201, 302, 307, 401, 404, 429, 500, 503])
async def test_any_other_answer_is_asked_for_again(server, visitor, new_listener, status):
    _, elsewhere = await new_listener(name="Elsewhere")
    client, receiver = await new_listener(status, 200, headers={"Location": elsewhere.url})
    message = await signed_out(server, visitor, client)
    server.clock.advance(29)
    await back_channel.deliver_due(server.service)
    too_early = len(receiver.calls)
    server.clock.advance(2)
    await back_channel.deliver_due(server.service)

    assert (message.state, too_early) == ("waiting", 1)
    assert (await only(server.store, LOGOUT_MESSAGES)).state == "delivered"
    first, second = (part(call.token, 1) for call in receiver.calls)
    assert second["jti"] == first["jti"]
    assert second["iat"] == first["iat"] + 31
    assert elsewhere.calls == [], "no redirect is followed"


async def test_after_the_clock_was_set_back_an_application_is_asked_at_once(
    server, visitor, new_listener
):
    client, receiver = await new_listener(503, 503, 200)
    await signed_out(server, visitor, client)
    server.clock.advance(-7200)
    for _ in range(2):
        await back_channel.deliver_due(server.service)

    assert len(receiver.calls) == 2


@pytest.mark.promise("logout: repeated logout tokens")
async def test_it_is_given_up_after_a_quarter_of_an_hour(server, visitor, new_listener):
    client, receiver = await new_listener(503)
    begun = server.clock.now()
    await signed_out(server, visitor, client)
    attempts = []
    for _ in range(200):
        before = len(receiver.calls)
        await back_channel.deliver_due(server.service)
        if len(receiver.calls) > before:
            attempts.append((server.clock.now() - begun).total_seconds())
        server.clock.advance(10)

    assert attempts == [30, 150, 450, 900]
    assert (await only(server.store, LOGOUT_MESSAGES)).state == "failed"


async def test_a_process_that_ends_with_the_last_attempt_leaves_it_done(
    server, visitor, new_listener, monkeypatch
):
    client, receiver = await new_listener()
    monkeypatch.setattr(back_channel, "send_soon", lambda *_: None)
    message = await signed_out(server, visitor, client)
    spent = {"attempts": len(back_channel.DELAYS)}
    await server.store.commit(Update(LOGOUT_MESSAGES, message.id, set=spent))
    await back_channel.deliver_due(server.service)

    assert receiver.calls == []
    assert (await only(server.store, LOGOUT_MESSAGES)).state == "failed"


@pytest.mark.full
@pytest.mark.promise("logout: applications")
async def test_who_hangs_holds_up_nobody_else(server, visitor, new_listener, monkeypatch):
    (slow, at_slow), (quick, at_quick) = (
        await new_listener(holds=True),
        await new_listener(name="Quick"),
    )
    monkeypatch.setattr(back_channel, "send_soon", lambda *_: None)
    tokens = await slow.tokens(visitor, *server.user)
    assert "code" in await quick.silently(visitor)
    await sign_out(server, visitor, slow, tokens)
    hurried = dataclasses.replace(server.service, outgoing=Outgoing(seconds=1))
    await back_channel.deliver_due(hurried)
    states = {one.client_id: one.state for one in await messages(server)}

    assert (len(at_slow.calls), len(at_quick.calls)) == (1, 1)
    assert states == {slow.client_id: "waiting", quick.client_id: "delivered"}


async def test_nobody_behind_the_address_is_tried_again(server, visitor, new_listener):
    client, receiver = await new_listener()
    receiver.close()
    message = await signed_out(server, visitor, client)

    assert (message.state, message.attempts) == ("waiting", 1)


async def test_a_service_of_the_internet_calls_nobody_on_its_own_machine(
    server, visitor, new_listener, monkeypatch
):
    client, receiver = await new_listener()
    monkeypatch.setattr(back_channel, "send_soon", lambda *_: None)
    await signed_out(server, visitor, client)
    config = structs.replace(server.service.config, issuer="https://login.example.com")
    await back_channel.deliver_due(dataclasses.replace(server.service, config=config))

    assert receiver.calls == []
    assert (await only(server.store, LOGOUT_MESSAGES)).state == "waiting"


@pytest.mark.promise("security: back-channel")
@on_both_stores
async def test_an_address_that_may_not_be_called_is_a_warning_that_names_the_setting(
    server, visitor, new_listener, monkeypatch, capsys
):
    client, _ = await new_listener()
    monkeypatch.setattr(back_channel, "send_soon", lambda *_: None)
    await signed_out(server, visitor, client)
    config = structs.replace(server.service.config, issuer="https://login.example.com")
    await back_channel.deliver_due(dataclasses.replace(server.service, config=config))
    logged = capsys.readouterr().err.splitlines()
    (line,) = [each for each in logged if "a back-channel address may not be called" in each]

    assert "warning" in line.casefold()
    assert "outgoing_networks" in line
    assert client.client_id in line


async def test_messages_are_forgotten_after_a_day(server, visitor, new_listener):
    client, _ = await new_listener()
    await signed_out(server, visitor, client)
    server.clock.advance(25 * 3600)

    assert await messages(server) == []
