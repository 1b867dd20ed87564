"""/admin/v1/mail: whether mail can be sent, what waits and why, and trying again."""

from __future__ import annotations

import re

import pytest

from idp.foundation.i18n import load, message
from idp.mail import delivery as mail_delivery
from idp.mail import messages
from idp.records import EVENTS, OUTBOX
from storage import Update
from tests.support.management.callers import refused
from tests.support.servers.mail_server import settings_for
from tests.support.sign_in.registering import at_code
from tests.support.sign_in.steps import text_of
from tests.support.store.stored import everything

TO = "nora@example.com"
MAIL = "/admin/v1/mail"


@pytest.fixture
def settings(mail_server):
    return settings_for(mail_server)


async def post(server, kind="invite", **changes):
    """Put a letter into the outbox: its id."""
    letter = messages.write(load("en"), TO, message("A subject"), [message("Secret words.")])
    posting = messages.posting(server.service, kind, letter, "user-1", org_id=None)
    await server.store.commit(posting)
    if changes:
        await server.store.commit(Update(OUTBOX, posting.id, set=changes))
    return posting.id


async def test_a_test_is_sent_at_once_and_reports_what_the_server_said(owner, mail_server):
    page = await owner.post(f"{MAIL}/_test", {"to": TO})

    assert page.json() == {"server": f"localhost:{mail_server.port}", "answer": "taken"}
    assert [each["To"] for each in mail_server.mails] == [TO]


async def test_a_test_that_fails_reports_why_and_leaves_nothing(server, owner, mail_server):
    mail_server.recipients[TO] = f"550 {TO} is unknown"
    before = await everything(server.store)
    page = await owner.post(f"{MAIL}/_test", {"to": TO})

    assert refused(page, 400, 9) == {"": "mail.not_sent"}
    assert "550 (address) is unknown" in page.text
    assert await everything(server.store) == before


async def test_messages_are_listed_without_their_contents(server, owner):
    id = await post(server, state="failed", attempts=3, last_error="the server answered 550")
    await post(server, kind="verify_email")
    asked = {
        "queries": [{"stateQuery": {"state": "failed"}}, {"userIdQuery": {"userId": "user-1"}}]
    }
    page = await owner.post(f"{MAIL}/_search", asked)

    (found,) = page.json()["result"]
    assert (found["id"], found["kind"], found["state"]) == (id, "invite", "failed")
    assert (found["attempts"], found["lastError"]) == (3, "the server answered 550")
    assert TO not in page.text
    assert "Secret" not in page.text


@pytest.mark.parametrize("state", ["failed", "queued", "held"])
async def test_a_message_is_sent_when_it_is_tried_again(server, owner, mail_server, state):
    later = server.clock.now() + mail_delivery.PAUSES[-1]
    id = await post(server, state=state, attempts=mail_delivery.ATTEMPTS, due_at=later)
    page = await owner.post(f"{MAIL}/{id}/_retry", {})
    await mail_delivery.deliver_due(server.service)

    assert page.json()["letter"]["state"] == "queued"
    assert [each["To"] for each in mail_server.mails] == [TO]
    events = [each.type async for each in server.store.scan(EVENTS) if each.record_id == id]
    assert events == ["mail.retried"]


@pytest.mark.parametrize("state", ["sent", "sending"])
async def test_what_is_sent_or_under_way_is_not_sent_again(server, owner, state):
    id = await post(server, state=state)
    before = await everything(server.store)
    page = await owner.post(f"{MAIL}/{id}/_retry", {})

    assert refused(page, 400, 9) == {"": "mail.not_waiting"}
    assert await everything(server.store) == before


async def test_a_text_message_without_a_hook_stays_held(server, owner):
    id = await post(server, kind="verify_phone")
    page = await owner.post(f"{MAIL}/{id}/_retry", {})

    assert refused(page, 400, 9) == {"": "mail.off"}


async def test_pages_do_not_mention_held_mail_where_mail_is_sent(server, visitor):
    assert server.start.as_json()["mail"] == {"state": "smtp", "url": None}
    assert "is set up" not in (await visitor.get("/ui/login")).text


async def test_a_code_comes_by_mail_and_no_page_speaks_of_held_mail(
    server, visitor, demo, mail_server
):
    page = await at_code(visitor, demo)
    await mail_delivery.deliver_due(server.service)

    (sent,) = mail_server.mails
    code = re.search(r"^ +(\d{8})", sent.get_body(["plain"]).get_content(), re.MULTILINE)[1]
    assert "We've emailed a code to" in text_of(page)
    done = await visitor.submit(page, code=code)
    assert done.status in (200, 302, 303)
