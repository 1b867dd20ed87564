"""Text messages on their way: to the operator's own address, signed, once or again later."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import replace

import pytest
from msgspec import structs

from idp.identity.users import phone_verification
from idp.mail import delivery as mail_delivery
from idp.records import OUTBOX, USERS, Phone

SECRET = "a secret that both sides know"
NUMBER = "+41791234567"


@pytest.fixture
def hooked(mailing, new_receiver, tmp_path):
    """Makes a service with a hook, and the hook."""
    file = tmp_path / "secret"
    file.write_text(SECRET + "\n")

    def make(*statuses):
        hook = new_receiver(*statuses)
        return mailing(None, sms_hook_url=hook.url, sms_hook_secret_file=str(file)), hook

    return make


async def ask(service):
    """Let a code be sent to a phone: the code."""
    (user,) = (await service.store.find(USERS, {"login_key": "demo"})).records
    user = structs.replace(user, phone=Phone(number=NUMBER))
    begun = phone_verification.begin_phone(service, user, send=True)
    await service.store.commit(*begun.writes)
    return begun.code, user


async def stored(service):
    (letter,) = [each async for each in service.store.scan(OUTBOX)]
    return letter


async def test_a_code_is_handed_over_once_and_signed(hooked):
    service, hook = hooked(204)
    code, user = await ask(service)

    await mail_delivery.deliver_due(service)
    await mail_delivery.deliver_due(service)

    (call,) = hook.calls
    letter = await stored(service)
    assert (letter.state, letter.sealed) == ("sent", "")
    told = json.loads(call.body)
    assert set(told) == {"to", "text", "code", "kind", "userId", "id"}
    assert (told["to"], told["code"], told["userId"]) == (NUMBER, code, user.id)
    assert (told["kind"], told["id"]) == ("verify_phone", letter.id)
    assert code in told["text"]
    assert "\n" not in told["text"]
    headers = {name.lower(): value for name, value in call.headers.items()}
    at, _, digest = headers["x-idp-signature"].removeprefix("t=").partition(",v1=")
    assert int(at) == int(service.clock.now().timestamp())
    expected = hmac.new(SECRET.encode(), f"{at}.{call.body}".encode(), hashlib.sha256)
    assert digest == expected.hexdigest()


async def test_a_hook_that_fails_is_called_again_with_the_same_message(hooked):
    service, hook = hooked(503, 200)
    await ask(service)

    await mail_delivery.deliver_due(service)
    await mail_delivery.deliver_due(service)
    waiting = await stored(service)
    service.clock.advance(mail_delivery.PAUSES[0])
    await mail_delivery.deliver_due(service)

    assert (waiting.state, waiting.last_error) == ("queued", "the hook answered 503")
    assert [json.loads(call.body) for call in hook.calls] == [json.loads(hook.calls[0].body)] * 2
    assert (await stored(service)).state == "sent"


@pytest.mark.parametrize(("status", "state"), [(400, "failed"), (429, "queued")])
async def test_what_the_hook_refuses_for_good_is_given_up(hooked, status, state):
    service, _ = hooked(status)
    await ask(service)

    await mail_delivery.deliver_due(service)

    assert (await stored(service)).state == state


async def test_without_a_hook_a_text_message_is_held_whatever_the_mail_does(mailing):
    service = mailing(None)
    await ask(service)

    assert (await stored(service)).state == "held"


async def test_a_hook_may_be_in_a_network_that_applications_are_not_called_in(hooked):
    service, hook = hooked(200)
    public = structs.replace(service.config, issuer="https://login.example.com")
    service = replace(service, config=public)
    await ask(service)

    await mail_delivery.deliver_due(service)

    assert len(hook.calls) == 1
