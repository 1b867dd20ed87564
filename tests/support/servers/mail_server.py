"""A mail server (aiosmtpd) on loopback: stores the messages that it receives, and answers as
configured.

Fixtures::

    new_mail_server    makes them, each on a port of its own in the test's event loop
    mail_server        one of them
    mailing            a function: the service of `server`, sending by one of them
"""

from __future__ import annotations

import asyncio
import ssl
import warnings
from dataclasses import dataclass, field, replace
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser

import pytest
from msgspec import structs

USER = "postman"
PASSWORD = "a mail server's password"


@dataclass
class MailServer:
    """`answers` are given to the messages in turn, the last of them for ever: a line of SMTP,
    "hang", or after the message was taken "hold", which answers nothing, and "drop", which ends
    the connection."""

    answers: list[str] = field(default_factory=lambda: ["250 taken"])
    recipients: dict[str, str] = field(default_factory=dict)
    raw_messages: list[bytes] = field(default_factory=list)
    envelopes: list[tuple[str, list[str], list[str]]] = field(default_factory=list)
    connections: int = 0
    port: int = 0

    @property
    def mails(self) -> list[EmailMessage]:
        parser = BytesParser(policy=policy.default)
        return [parser.parsebytes(raw) for raw in self.raw_messages]

    async def handle_EHLO(self, server, session, envelope, hostname, responses):
        session.host_name = hostname
        self.connections += 1
        return responses

    async def handle_RCPT(self, server, session, envelope, address, options):
        answer = self.recipients.get(address, "250 OK")
        if answer.startswith("2"):
            envelope.rcpt_tos.append(address)
        return answer

    async def handle_DATA(self, server, session, envelope):
        answer = self.answers[0] if len(self.answers) == 1 else self.answers.pop(0)
        if answer == "hang":
            await asyncio.sleep(3600)
        if answer in ("drop", "hold") or answer.startswith("2"):
            self.raw_messages.append(envelope.content)
            self.envelopes.append((envelope.mail_from, envelope.rcpt_tos, envelope.mail_options))
        if answer == "hold":
            await asyncio.sleep(3600)
        if answer == "drop":
            server.transport.abort()
            return "250 never heard"
        return answer


def _authenticate(server, session, envelope, mechanism, data):
    from aiosmtpd.smtp import AuthResult

    is_right = (data.login, data.password) == (USER.encode(), PASSWORD.encode())
    return AuthResult(success=is_right, handled=False)


@pytest.fixture
def new_mail_server(io_loop):
    from aiosmtpd.smtp import SMTP

    started = []

    async def make(*answers, certificate=None, is_tls=False, is_closed=False, **options):
        made = MailServer(**({"answers": list(answers)} if answers else {}))
        context = None
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
        if is_closed:
            options |= {"authenticator": _authenticate, "auth_required": True}
            options |= {"auth_require_tls": certificate is not None and not is_tls}
        given = {"hostname": "mail.test", "enable_SMTPUTF8": True} | options

        def session():
            tls = None if is_tls else context
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of passwords in plain text
                return SMTP(made, tls_context=tls, require_starttls=tls is not None, **given)

        loop, over = asyncio.get_running_loop(), context if is_tls else None
        server = await loop.create_server(session, "127.0.0.1", 0, ssl=over)
        started.append(server)
        made.port = server.sockets[0].getsockname()[1]
        return made

    yield make
    for each in started:
        each.close()


@pytest.fixture
def mail_server(io_loop, new_mail_server) -> MailServer:
    return io_loop.run_sync(new_mail_server)


def settings_for(mail_server: MailServer | None, **settings) -> dict:
    """Settings of a service that sends its mail by this server."""
    return {
        "smtp_host": "localhost",
        "smtp_port": mail_server.port if mail_server else 9,
        "smtp_security": "none",
        "smtp_from": "no-reply@login.example",
        "smtp_from_name": "Login",
    } | settings


@pytest.fixture
def mailing(server):
    def sending(mail_server=None, **settings):
        config = structs.replace(server.service.config, **settings_for(mail_server, **settings))
        return replace(server.service, config=config)

    return sending
