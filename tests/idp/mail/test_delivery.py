"""Letters on their way to a real mail server: once, again later, or never."""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta

import pytest

from idp.foundation.i18n import load, message
from idp.mail import delivery as mail_delivery
from idp.mail import messages
from idp.mail.messages import MessageCode
from idp.records import OUTBOX

TO = "nora@example.com"


async def post(service, to=TO, subject="A letter", count=1):
    """Put letters into the outbox; the first one's id."""
    parts = [message("Grüße."), MessageCode("12345678")]
    letters = [messages.write(load("en"), to, message(subject), parts) for _ in range(count)]
    writes = [
        messages.posting(service, "verify_email", letter, "user-1", org_id=None)
        for letter in letters
    ]
    for write in writes:
        await service.store.commit(write)
    return writes[0].id


async def states(service):
    return [each.state async for each in service.store.scan(OUTBOX)]


async def only(service):
    (letter,) = [each async for each in service.store.scan(OUTBOX)]
    return letter


async def test_a_message_is_sent_once_and_its_contents_are_forgotten(mailing, new_mail_server):
    server = await new_mail_server()
    service = mailing(server)
    id = await post(service)

    await mail_delivery.deliver_due(service)
    await mail_delivery.deliver_due(service)

    (sent,) = server.mails
    assert (sent["To"], sent["From"]) == (TO, "Login <no-reply@login.example>")
    assert sent["Message-ID"] == f"<{id}@localhost>"
    assert sent["Auto-Submitted"] == "auto-generated"
    assert sent["Content-Language"] == "en"
    assert sent["Date"].datetime == service.clock.now().replace(microsecond=0)
    assert "12345678" in sent.get_body(["plain"]).get_content()
    assert "Grüße." in sent.get_body(["html"]).get_content()
    stored = await only(service)
    assert (stored.state, stored.sealed, stored.last_error) == ("sent", "", "")


async def test_without_a_mail_server_messages_are_held_and_stay_so(
    server, mailing, new_mail_server
):
    await post(server.service)
    service = mailing(await new_mail_server())

    await mail_delivery.deliver_due(server.service)
    await mail_delivery.deliver_due(service)

    assert await states(service) == ["held"]


async def test_messages_share_a_connection(mailing, new_mail_server):
    server = await new_mail_server()
    service = mailing(server)
    await post(service, count=mail_delivery.BATCH)

    await mail_delivery.deliver_due(service)

    assert (server.connections, len(server.raw_messages)) == (1, mail_delivery.BATCH)
    assert set(await states(service)) == {"sent"}


async def test_two_processes_send_a_message_once(mailing, new_mail_server):
    server = await new_mail_server()
    service = mailing(server)
    await post(service, count=5)

    await asyncio.gather(*(mail_delivery.deliver_due(service) for _ in range(4)))

    assert len({each["Message-ID"] for each in server.mails}) == len(server.mails) == 5


async def test_what_the_server_puts_off_is_tried_again_later(mailing, new_mail_server):
    server = await new_mail_server("451 come back", "250 taken")
    service = mailing(server)
    await post(service)

    await mail_delivery.deliver_due(service)
    waiting = await only(service)
    await mail_delivery.deliver_due(service)
    assert server.raw_messages == []
    service.clock.advance(mail_delivery.PAUSES[0])
    await mail_delivery.deliver_due(service)

    assert (waiting.state, waiting.attempts) == ("queued", 1)
    assert waiting.last_error == "the server answered 451 come back"
    assert len(server.raw_messages) == 1


@pytest.mark.parametrize("attempts", [0, 1])
async def test_a_message_is_sent_at_once_after_the_clock_was_set_back(
    mailing, new_mail_server, attempts
):
    server = await new_mail_server(*(["451 come back"] * attempts), "250 taken")
    service = mailing(server)
    await post(service)
    for _ in range(attempts):
        await mail_delivery.deliver_due(service)
    service.clock.advance(timedelta(hours=-2))
    await mail_delivery.deliver_due(service)

    assert len(server.raw_messages) == 1


@pytest.mark.full
async def test_a_message_is_given_up_after_a_day(mailing, new_mail_server):
    service = mailing(await new_mail_server("451 no"))
    await post(service)
    for pause in mail_delivery.PAUSES:
        await mail_delivery.deliver_due(service)
        service.clock.advance(pause)
    assert await states(service) == ["queued"]
    await mail_delivery.deliver_due(service)

    failed = await only(service)
    assert (failed.state, failed.attempts) == ("failed", mail_delivery.ATTEMPTS)
    assert timedelta(hours=23) < sum(mail_delivery.PAUSES, timedelta()) < timedelta(hours=25)


async def test_what_the_server_refuses_for_good_is_not_tried_again(mailing, new_mail_server):
    server = await new_mail_server()
    server.recipients[TO] = f"550 <{TO}> is unknown here"
    service = mailing(server)
    await post(service)
    await post(service, to="other@example.com")

    await mail_delivery.deliver_due(service)

    found = {each.state: each.last_error async for each in service.store.scan(OUTBOX)}
    assert found == {"failed": "the server answered 550 <(address)> is unknown here", "sent": ""}
    assert server.connections == 1


async def test_a_server_that_can_not_be_reached_costs_every_message_one_attempt(mailing):
    service = mailing(None)
    await post(service, count=3)

    await mail_delivery.deliver_due(service)

    found = [each async for each in service.store.scan(OUTBOX)]
    assert {(each.state, each.attempts) for each in found} == {("queued", 1)}
    assert all(each.last_error.startswith("SMTPConnectError") for each in found)


async def test_a_dropped_connection_costs_only_the_message_that_was_under_way(
    mailing, new_mail_server
):
    server = await new_mail_server("drop", "250 taken")
    service = mailing(server)
    await post(service, count=3)

    await mail_delivery.deliver_due(service)
    await mail_delivery.deliver_due(service)
    assert sorted(await states(service)) == ["queued", "sent", "sent"]
    service.clock.advance(mail_delivery.PAUSES[0])
    await mail_delivery.deliver_due(service)

    # at least once: the letter that the server had taken comes again, as the same one
    ids = [each["Message-ID"] for each in server.mails]
    assert (len(ids), len(set(ids))) == (4, 3)


@pytest.mark.full
async def test_a_server_that_hangs_keeps_nobody_for_ever(mailing, new_mail_server, monkeypatch):
    monkeypatch.setattr(mail_delivery, "BATCH_SECONDS", 0.2)
    service = mailing(await new_mail_server("hang"))
    await post(service, count=2)

    await mail_delivery.deliver_due(service)

    found = [each async for each in service.store.scan(OUTBOX)]
    assert sorted((each.state, each.attempts) for each in found) == [("queued", 0), ("queued", 1)]


async def test_what_an_ended_process_had_begun_is_sent_by_another_with_the_same_id(
    mailing, new_mail_server, monkeypatch
):
    server = await new_mail_server()
    service = mailing(server)
    id = await post(service)

    async def dies(*_):
        raise asyncio.CancelledError

    with monkeypatch.context() as patch:
        patch.setattr(mail_delivery, "_finish", dies)  # after the server took it
        await mail_delivery.deliver_due(service)
    await mail_delivery.deliver_due(service)
    assert (await states(service), len(server.raw_messages)) == (["sending"], 1)
    service.clock.advance(mail_delivery.CLAIM)
    await mail_delivery.deliver_due(service)

    assert [each["Message-ID"] for each in server.mails] == [f"<{id}@localhost>"] * 2
    assert server.raw_messages[0] == server.raw_messages[1]
    assert await states(service) == ["sent"]


@pytest.mark.parametrize(
    ("to", "told"),
    [
        ("nörä@example.com", "nörä@example.com"),
        ("nora@exämple.com", "nora@xn--exmple-cua.com"),
        ('"no ra"@example.com', '"no ra"@example.com'),
    ],
)
async def test_addresses_of_every_alphabet_are_sent_to(mailing, new_mail_server, to, told):
    server = await new_mail_server()
    service = mailing(server)
    await post(service, to=to)

    await mail_delivery.deliver_due(service)

    ((_, recipients, options),) = server.envelopes
    assert recipients == [told]
    assert ("SMTPUTF8" in options) is (not told.isascii())


async def test_a_server_without_smtputf8_is_not_asked_again(mailing, new_mail_server):
    server = await new_mail_server(enable_SMTPUTF8=False)
    service = mailing(server)
    await post(service, to="nörä@example.com")

    await mail_delivery.deliver_due(service)

    failed = await only(service)
    assert failed.state == "failed"
    assert "SMTPUTF8" in failed.last_error
    assert server.raw_messages == []


@pytest.mark.parametrize(
    "hostile",
    [
        "a@example.com\r\nBcc: evil@example.com",
        "a@example.com, evil@example.com",
        "a@example.com\u2028Bcc: evil@example.com",
        "a <evil@example.com>",
        "group: a@example.com;",
        "=?utf-8?q?a=0D=0ABcc:_evil@evil.example?=@example.com",
        "=?utf-8?q?evil=40evil.example,?=@example.com",
        "@example.com",
        "nobody",
    ],
)
async def test_what_is_no_single_address_is_sent_to_nobody(mailing, new_mail_server, hostile):
    server = await new_mail_server()
    service = mailing(server)
    await post(service, to=hostile)

    await mail_delivery.deliver_due(service)

    assert (server.raw_messages, await states(service)) == ([], ["failed"])


async def test_a_subject_begins_no_header_of_its_own(mailing, new_mail_server):
    server = await new_mail_server()
    service = mailing(server, smtp_from_name='Größe, "Söhne"')
    await post(service, subject="Hi\r\nBcc: evil@example.com\u2028X: y" + " ö" * 100)

    await mail_delivery.deliver_due(service)

    (sent,) = server.mails
    assert (sent["Bcc"], sent["X"]) == (None, None)
    assert sent["From"].addresses[0].display_name == 'Größe, "Söhne"'
    assert server.envelopes[0][1] == [TO]
    assert max(map(len, server.raw_messages[0].split(b"\r\n"))) <= 78
    assert server.raw_messages[0].isascii()


@pytest.mark.parametrize(
    "encoded",
    [
        "=?utf-8?q?Hi=0D=0ABcc:_evil@evil.example?=",
        "=?utf-8?b?SGkNCkJjYzogZXZpbEBldmlsLmV4YW1wbGU=?=",
        "=?us-ascii*en?Q?Hi=0A?= =?utf-7?q?+AAo-Bcc:?= x@evil.example",
        "==?utf-8?q?Hi=0D=0ABcc:_evil@evil.example?=",
    ],
)
async def test_an_encoded_word_is_no_way_around_that(mailing, new_mail_server, encoded):
    server = await new_mail_server()
    service = mailing(server, smtp_from_name=encoded)
    await post(service, subject=encoded)

    await mail_delivery.deliver_due(service)

    (sent,) = server.mails
    assert sent["Bcc"] is None
    assert sent["Subject"] == encoded.replace("=?", "= ?")
    assert sent["From"].addresses[0].addr_spec == "no-reply@login.example"
    assert server.envelopes[0][1] == [TO]


async def test_logs_name_no_address_and_no_code(mailing, new_mail_server, monkeypatch):
    logged = []

    class Log:
        def __getattr__(self, level):
            return lambda event, **fields: logged.append((level, event, fields))

    monkeypatch.setattr(mail_delivery, "_log", Log())
    server = await new_mail_server("451 no", "250 taken")
    server.recipients["bad@example.com"] = "550 bad@example.com"
    service = mailing(server)
    await post(service)
    await post(service, to="bad@example.com")
    await mail_delivery.deliver_due(service)

    assert len(logged) == 2
    assert not re.search(r"nora|bad@|12345678", repr(logged))
