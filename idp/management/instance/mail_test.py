"""A test of the mail server: a message that is sent immediately, and the server's answer."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

from idp.foundation.errors import FailedPrecondition
from idp.foundation.i18n import message
from idp.mail import branding, messages, mime, smtp
from idp.mail.failures import NotSent, redacted
from idp.management.call import Call
from idp.schema.answers import Answer
from idp.schema.field_rules import EmailRule
from idp.schema.reading import Request
from idp.service import Service

SECONDS: Final = 30


class TestMail(Request, frozen=True, kw_only=True):
    to: Annotated[str, EmailRule()]


class TestSent(Answer, frozen=True, kw_only=True):
    """`server` is the name and port of the mail server, `answer` its response when it accepted the
    mail.
    """

    server: str
    answer: str


async def send(service: Service, call: Call, request: TestMail) -> TestSent:
    """Sends a mail immediately, to show whether the mail server accepts it.

    Raises FailedPrecondition if no mail server is configured, or it did not accept the mail.
    """
    config = service.config
    if not config.sends_mail:
        raise FailedPrecondition(
            "no mail server is set up: set smtp_host and smtp_from", error_code="mail.off"
        )
    bundle = messages.bundle_for(config, call.caller.profile.preferred_language)
    subject = message("Test email", context="mail")
    text = message("If you can read this, the service can send email.", context="mail")
    content = messages.write(bundle, request.to, subject, [text])
    now = service.clock.now()
    try:
        mail_branding = await branding.find(service, None)
        envelope = mime.envelope(
            config, service.random.ordered_id(now), now, content, mail_branding
        )
        # One limit for connection and delivery together: the caller waits for the answer.
        async with asyncio.timeout(SECONDS), smtp.connection(config) as server:
            answer = await server.send(envelope)
    except (TimeoutError, NotSent, mime.Unsendable) as error:
        why = str(error) or f"no answer within {SECONDS} s"
        raise FailedPrecondition(
            f"the mail was not sent: {why}", error_code="mail.not_sent"
        ) from error
    return TestSent(server=f"{config.smtp_host}:{smtp.port(config)}", answer=redacted(answer))
