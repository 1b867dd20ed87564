"""The operator's mail server (RFC 5321): one connection, over which mails are sent one after
another.

The library is imported with the first mail, not at the start of the program.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from idp.config.settings import Config
from idp.foundation.errors import ConfigError
from idp.mail.failures import NotSent
from idp.mail.mime import Envelope

if TYPE_CHECKING:
    from aiosmtplib import SMTP, SMTPResponseException

_PORTS: Final = {"starttls": 587, "tls": 465, "none": 25}
_PERMANENT: Final = 500  # replies from here on are permanent (RFC 5321 4.2.1)


class SmtpConnection:
    """A connection to the mail server, authenticated if that is configured."""

    def __init__(self, client: SMTP) -> None:
        self._client = client

    @property
    def is_open(self) -> bool:
        """Whether another mail can be sent over the connection."""
        return self._client.is_connected

    async def send(self, envelope: Envelope) -> str:
        """Sends a mail over the connection and returns the server's answer, for the log. Raises
        NotSent."""
        options = ["SMTPUTF8"] if envelope.is_international else []
        with _failures():
            _, answer = await self._client.sendmail(
                envelope.sender, [envelope.to], envelope.data, mail_options=options
            )
        return answer


@asynccontextmanager
async def connection(config: Config) -> AsyncIterator[SmtpConnection]:
    """Provides a connection to the mail server within the block, authenticated if that is
    configured. Raises NotSent."""
    from aiosmtplib import SMTP

    context, password = await asyncio.to_thread(_tls_and_password, config)
    client = SMTP(
        hostname=config.smtp_host,
        port=port(config),
        username=config.smtp_user or None,
        password=password,
        local_hostname=urlsplit(config.issuer).hostname,
        timeout=config.smtp_timeout_seconds,
        use_tls=config.smtp_security == "tls",
        start_tls=config.smtp_security == "starttls",
        tls_context=context,
    )
    try:
        with _failures():
            await client.connect()
        yield SmtpConnection(client)
        if client.is_connected:
            with suppress(NotSent), _failures():
                await client.quit()
    finally:
        client.close()


def port(config: Config) -> int:
    """Returns the configured port of the mail server, or else the default one for the configured
    security."""
    return config.smtp_port or _PORTS[config.smtp_security]


def check(config: Config) -> None:
    """Checks that the files which the settings of the mail server name can be used. Raises
    ConfigError."""
    if not config.sends_mail:
        return
    try:
        _tls_and_password(config)
    except NotSent as error:
        raise ConfigError([error.reason]) from error


def _tls_and_password(config: Config) -> tuple[ssl.SSLContext | None, str | None]:
    """The TLS context to verify the server, and the password to authenticate with. Raises
    NotSent."""
    try:
        context = None if config.smtp_security == "none" else _context(config.smtp_ca_file)
    except OSError as error:
        raise NotSent(f"smtp_ca_file can't be used: {error}") from error
    if config.smtp_password_file is None:
        return context, None
    try:
        return context, Path(config.smtp_password_file).read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise NotSent(f"smtp_password_file can't be read: {error}") from error


@cache
def _context(ca_file: str | None) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=ca_file)


@contextmanager
def _failures() -> Iterator[None]:
    """Turns failures within the block into NotSent."""
    import aiosmtplib

    try:
        yield
    except aiosmtplib.SMTPRecipientsRefused as error:
        refused = error.recipients[0]
        raise NotSent(_answer(refused), is_final=refused.code >= _PERMANENT) from error
    except aiosmtplib.SMTPDataError as error:
        raise NotSent(_answer(error), is_final=error.code >= _PERMANENT) from error
    except aiosmtplib.SMTPNotSupported as error:
        raise NotSent(str(error), is_final="SMTPUTF8" in str(error)) from error
    except aiosmtplib.SMTPResponseException as error:  # sender or sign-in: can be corrected
        raise NotSent(_answer(error)) from error
    except (aiosmtplib.SMTPException, OSError, ValueError) as error:
        raise NotSent(f"{type(error).__name__}: {error}") from error


def _answer(error: SMTPResponseException) -> str:
    return f"the server answered {error.code} {error.message}"
