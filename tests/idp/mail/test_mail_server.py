"""What is asked of a mail server before it gets a letter: who it is, and who we are."""

from __future__ import annotations

import pytest

from idp.config import loading as settings
from idp.foundation.errors import ConfigError
from idp.mail import delivery as mail_delivery
from idp.mail import sms_hook, smtp
from idp.records import OUTBOX
from tests.idp.mail.test_delivery import post
from tests.support.servers.certificate import self_signed
from tests.support.servers.mail_server import PASSWORD, USER


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    directory = tmp_path_factory.mktemp("certificate")
    return [str(directory / name) for name in self_signed(directory)]


@pytest.fixture
def login(tmp_path):
    file = tmp_path / "password"
    file.write_text(PASSWORD + "\n")
    return {"smtp_user": USER, "smtp_password_file": str(file)}


async def error_after(service):
    """Why the letter was not sent; empty when it was."""
    await post(service)
    await mail_delivery.deliver_due(service)
    (letter,) = [each async for each in service.store.scan(OUTBOX)]
    assert letter.state == ("queued" if letter.last_error else "sent")
    return letter.last_error


@pytest.mark.parametrize("security", ["starttls", "tls"])
async def test_a_message_goes_by_tls_to_a_server_with_a_valid_certificate(
    mailing, new_mail_server, certificate, login, security
):
    server = await new_mail_server(
        certificate=certificate, is_tls=security == "tls", is_closed=True
    )
    trusting = {"smtp_ca_file": certificate[0]} | login
    service = mailing(server, smtp_security=security, **trusting)

    assert await error_after(service) == ""
    assert len(server.raw_messages) == 1


@pytest.mark.parametrize("security", ["starttls", "tls"])
async def test_nothing_is_sent_to_a_server_whose_certificate_nobody_vouches_for(
    mailing, new_mail_server, certificate, login, security
):
    server = await new_mail_server(certificate=certificate, is_tls=security == "tls")
    service = mailing(server, smtp_security=security, **login)

    assert "CERTIFICATE_VERIFY_FAILED" in await error_after(service)
    assert server.raw_messages == []


async def test_nothing_is_sent_in_plain_text_where_tls_was_meant(mailing, new_mail_server, login):
    server = await new_mail_server(is_closed=True)
    service = mailing(server, smtp_security="starttls", **login)

    assert "STARTTLS" in await error_after(service)
    assert server.raw_messages == []


async def test_a_wrong_password_is_corrected_by_the_operator_without_losing_messages(
    mailing, new_mail_server, login
):
    server = await new_mail_server(is_closed=True)
    service = mailing(server, **login)
    with open(login["smtp_password_file"], "w") as file:
        file.write("another")
    assert (await error_after(service)).startswith("the server answered 535")

    with open(login["smtp_password_file"], "w") as file:
        file.write(PASSWORD)
    service.clock.advance(mail_delivery.PAUSES[0])
    await mail_delivery.deliver_due(service)

    assert len(server.raw_messages) == 1


WITH_SERVER = {"smtp_host": "mail.example.com", "smtp_from": "no-reply@example.com"}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"smtp_user": "x"}, "smtp_user is of no use without smtp_host"),
        ({"smtp_from": "a@example.com"}, "smtp_from is of no use without smtp_host"),
        ({"smtp_host": "mail.example.com"}, "smtp_from is missing"),
        (WITH_SERVER | {"smtp_from": "Me <me@example.com>"}, "smtp_from must be a plain address"),
        (WITH_SERVER | {"smtp_reply_to": "a@b@c"}, "smtp_reply_to must be a plain address"),
        (WITH_SERVER | {"smtp_host": "mail.example.com:25"}, "name or address alone"),
        (WITH_SERVER | {"smtp_user": "x"}, "must be given together"),
        (WITH_SERVER | {"smtp_password_file": "/x"}, "must be given together"),
        (WITH_SERVER | {"smtp_security": "none"}, "use starttls or tls"),
        (WITH_SERVER | {"smtp_from_name": "a\nb"}, "in one line"),
        ({"sms_hook_url": "https://sms.example.com"}, "must be given together"),
        (
            {"sms_hook_url": "http://sms.example.com", "sms_hook_secret_file": "/x"},
            "must be an https address",
        ),
    ],
)
def test_settings_that_send_nothing_are_refused_with_the_cure(given, told):
    with pytest.raises(ConfigError) as refused:
        settings.load(given, {})

    assert any(told in problem for problem in refused.value.problems)


@pytest.mark.parametrize(
    "given",
    [
        WITH_SERVER,
        WITH_SERVER | {"smtp_security": "none", "smtp_insecure": True},
        WITH_SERVER | {"smtp_security": "none", "smtp_host": "127.0.0.1"},
        WITH_SERVER | {"smtp_host": "2001:db8::1", "smtp_reply_to": "help@example.com"},
        {"sms_hook_url": "http://localhost:9/x", "sms_hook_secret_file": "/x"},
    ],
)
def test_settings_that_send_something_are_taken(given):
    assert settings.load(given, {}).config.smtp_host == given.get("smtp_host", "")


def test_a_start_finds_files_that_are_not_there():
    both = {"smtp_user": "x", "smtp_password_file": "/nonexistent"}
    hook = {"sms_hook_url": "http://localhost:9/x", "sms_hook_secret_file": "/nonexistent"}
    with pytest.raises(ConfigError, match="smtp_password_file"):
        smtp.check(settings.load(WITH_SERVER | both, {}).config)
    with pytest.raises(ConfigError, match="smtp_ca_file"):
        smtp.check(settings.load(WITH_SERVER | {"smtp_ca_file": "/nonexistent"}, {}).config)
    with pytest.raises(ConfigError, match="sms_hook_secret_file"):
        sms_hook.check(settings.load(hook, {}).config)
