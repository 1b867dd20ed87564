"""The console's page of mail: what it says where none is sent, a test, and trying again."""

from __future__ import annotations

import pytest

from idp.mail import delivery as mail_delivery
from tests.handlers.management.test_mail_calls import TO, post
from tests.support.management.console import admin
from tests.support.servers.mail_server import settings_for
from tests.support.sign_in.steps import Seen, text_of

MAIL = "/ui/console/mail"


async def test_where_no_mail_is_sent_the_page_says_who_can_change_that(server, visitor):
    await post(server)
    page = await admin(server, visitor, MAIL)

    assert "No mail server is set up" in text_of(page)
    assert "captured" in text_of(page)
    assert not [url for url in Seen(page).links if "/retry" in url or "/mail/test" in url]
    assert "/dev/mail" in Seen(page).links


class TestWithServer:
    @pytest.fixture
    def settings(self, mail_server):
        return settings_for(mail_server)

    async def test_a_test_is_sent_from_the_page(self, server, visitor, mail_server):
        page = await admin(server, visitor, f"{MAIL}/test")
        page = await visitor.submit(page, to=TO)

        assert "Sent." in text_of(page)
        assert [each["To"] for each in mail_server.mails] == [TO]

    async def test_a_test_that_fails_says_what_the_server_said(self, server, visitor, mail_server):
        mail_server.recipients[TO] = "550 unknown here"
        page = await admin(server, visitor, f"{MAIL}/test")
        page = await visitor.submit(page, to=TO)

        assert page.status == 400
        assert "550 unknown here" in text_of(page)

    async def test_a_failed_message_is_sent_again_from_the_page(
        self, server, visitor, mail_server
    ):
        await post(server, state="failed", last_error="the server answered 550")
        page = await admin(server, visitor, f"{MAIL}?state=failed")
        assert "the server answered 550" in text_of(page)
        (retry,) = [url for url in Seen(page).links if "/retry" in url]
        await visitor.submit(await visitor.open(retry))
        await mail_delivery.deliver_due(server.service)

        assert [each["To"] for each in mail_server.mails] == [TO]
