"""Whoever is deactivated or locked gets in by no way, however far they had come; and what they do
does not let them in later."""

from __future__ import annotations

import pytest

from idp.records import SESSIONS, USERS
from storage import Update
from tests.handlers.login.form_pages import FORMS
from tests.support.browsers.authenticator import Device
from tests.support.sign_in import passkeys
from tests.support.sign_in.factors import user_of
from tests.support.sign_in.registering import mails
from tests.support.sign_in.resetting import ADDRESS, at_reset_code, give_address
from tests.support.sign_in.steps import text_of
from tests.support.slices import one_in

WAYS = (
    "reset, code",
    "reset, new password",
    "reset, link",
    "factor, offered",
    "factor, new app",
    "factor, recovery codes",
    "factor, app",
    "factor, recovery code",
    "passkey",
)
EACH = [(way, state) for way in WAYS for state in ("inactive", "locked")]


async def shut_out(server, state):
    """Only the state, so that nothing but it keeps them out."""
    user = await user_of(server)
    await server.store.commit(Update(USERS, user.id, set={"state": state}))
    return await user_of(server)


async def sessions_of(server):
    return [one async for one in server.store.scan(SESSIONS) if one.ended_at is None]


@pytest.mark.parametrize(("way", "state"), one_in(3, EACH))
async def test_the_last_step_lets_nobody_in_who_is_shut_out(place, way, state):
    page, fields = await FORMS[way](place)
    before = await shut_out(place.server, state)
    sessions = await sessions_of(place.server)
    answer = await place.visitor.submit(page, **fields)

    assert "code=" not in (answer.location or "")
    assert await sessions_of(place.server) == sessions
    after = await user_of(place.server)
    assert (after.state, after.password, after.totp) == (state, before.password, before.totp)


@pytest.mark.parametrize("state", ["inactive", "locked"])
async def test_a_passkey_of_theirs_is_answered_like_one_that_nobody_has(place, new_visitor, state):
    await place.sign_in()
    device, _ = await passkeys.enrol(place.visitor, place.server)
    unknown = Device(place.server.issuer, user_handle=device.user_handle)
    await shut_out(place.server, state)
    refused = await passkeys.sign_in(new_visitor(), place.party, device)
    other = await passkeys.sign_in(new_visitor(), place.party, unknown)

    assert refused.status == other.status == 400
    assert text_of(refused) == text_of(other)


async def test_a_locked_user_asks_for_a_reset_in_vain_and_gets_the_usual_answer(
    place, new_visitor
):
    await give_address(place.server)
    await shut_out(place.server, "locked")
    other = new_visitor()
    page = await at_reset_code(place.visitor, place.party)
    unknown = await at_reset_code(other, place.party, "nobody")

    assert text_of(page) == text_of(unknown)
    assert await mails(place.visitor, ADDRESS) == []
    assert (await user_of(place.server)).state == "locked"
