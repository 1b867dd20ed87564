"""The MIME form of a mail: the same bytes at every attempt, and no value can add a header (RFC
5322, RFC 2047, RFC 6532)."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from idp.config.settings import Config
from idp.foundation import domain_names
from idp.mail.messages import MailMessage

_ENCODING: Final = "quoted-printable"
_ENCODED: Final = "=?"  # begins an encoded word, whose content may include line ends (RFC 2047)


class Unsendable(Exception):
    """The error that no mail can be sent to an address. Its text does not contain the address."""


class Envelope(Struct, frozen=True):
    """A mail (`data`) with the addresses of sender and recipient for the mail server.
    `is_international` says that an address needs a server that supports SMTPUTF8 (RFC 6531)."""

    sender: str
    to: str
    data: bytes
    is_international: bool


def envelope(config: Config, id: str, written_at: datetime, mail_message: MailMessage) -> Envelope:
    """Returns a message as a mail for the mail server, with the id of the message in its
    Message-ID and `written_at` as its date. Raises Unsendable."""
    # Imported with the first mail, because the start of the program should not wait for them.
    from email.headerregistry import Address
    from email.message import EmailMessage
    from email.policy import SMTP, SMTPUTF8
    from email.utils import format_datetime

    to = _address(mail_message.to)
    is_international = not to.isascii()
    message = EmailMessage(policy=SMTPUTF8 if is_international else SMTP)
    message["From"] = Address(_plain(config.smtp_from_name), addr_spec=config.smtp_from)
    message["To"] = to
    # The header is parsed again: a text that reads as a list must not change the recipients.
    if [address.addr_spec for address in message["To"].addresses] != [to]:
        raise Unsendable("the address is not a single plain one")
    if config.smtp_reply_to:
        message["Reply-To"] = config.smtp_reply_to
    message["Subject"] = _plain(mail_message.subject)
    message["Date"] = format_datetime(written_at)
    message["Message-ID"] = f"<{id}@{urlsplit(config.issuer).hostname}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(mail_message.text, cte=_ENCODING)
    message.add_alternative(mail_message.html, subtype="html", cte=_ENCODING)
    if mail_message.language:
        message["Content-Language"] = mail_message.language
    # By the id, so that every attempt has the same bytes.
    message.set_boundary(f"=_{id}")
    return Envelope(config.smtp_from, to, message.as_bytes(), is_international)


def domain_of(address: str) -> str:
    """Returns the domain of an e-mail address, the only part of it that may be logged."""
    return address.rpartition("@")[2]


def _address(address: str) -> str:
    """The address with its domain in ASCII, which every server accepts. Raises Unsendable."""
    local, _, domain = address.rpartition("@")
    ascii = domain_names.key(domain)
    if not (local and ascii and ascii.isascii()):
        raise Unsendable("the address has no domain that a server knows")
    if _ENCODED in local:
        raise Unsendable("the address is an encoded one")
    return f"{local}@{ascii}"


def _plain(text: str) -> str:
    """The text, with nothing that could be taken for an encoded word."""
    return text.replace(_ENCODED, "= ?")
