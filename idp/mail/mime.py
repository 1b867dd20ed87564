"""The MIME form of a mail: text and HTML, with the logo as a separate part (RFC 2387, RFC 2392).

No value can add a header (RFC 5322, RFC 2047, RFC 6532).
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from msgspec import Struct

from idp.config.settings import Config
from idp.foundation import domain_names, i18n
from idp.mail import html
from idp.mail.branding import MailBranding
from idp.mail.messages import MailMessage

if TYPE_CHECKING:
    from email.message import EmailMessage

_ENCODING: Final = "quoted-printable"
_SIGNATURE_SEPARATOR: Final = (
    "-- \n"  # begins the last lines, which many mail programs display in grey
)
_ENCODED: Final = "=?"  # begins an encoded word, whose content may include line ends (RFC 2047)


class Unsendable(Exception):
    """Raised if no mail can be sent to an address. Its text does not contain the address."""


class Envelope(Struct, frozen=True):
    """A mail (`data`) with the addresses of sender and recipient for the mail server.
    `is_international` is whether an address needs a server that supports SMTPUTF8 (RFC 6531)."""

    sender: str
    to: str
    data: bytes
    is_international: bool


def envelope(
    config: Config,
    message_id: str,
    written_at: datetime,
    mail_message: MailMessage,
    branding: MailBranding,
) -> Envelope:
    """Returns a message as a mail for the mail server, with the id of the message in its
    Message-ID and `written_at` as its date. Raises Unsendable.

    Each attempt has the same bytes, as long as the branding is the same.
    """
    # Imported with the first mail, because they would slow down the start of the program.
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
    message["Message-ID"] = f"<{message_id}@{urlsplit(config.issuer).hostname}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(_text(mail_message, branding), cte=_ENCODING)
    _add_html(message, message_id, mail_message, branding)
    if mail_message.language:
        message["Content-Language"] = mail_message.language
    # Derived from the id, so that every attempt has the same bytes.
    message.set_boundary(f"=_{message_id}")
    return Envelope(config.smtp_from, to, message.as_bytes(), is_international)


def _text(mail_message: MailMessage, branding: MailBranding) -> str:
    bundle = i18n.load(mail_message.language or i18n.SOURCE)
    lines = "\n".join(bundle.text(line) for line in html.foot(branding))
    return f"{mail_message.text}\n{_SIGNATURE_SEPARATOR}{lines}\n"


def _add_html(
    message: EmailMessage, message_id: str, mail_message: MailMessage, branding: MailBranding
) -> None:
    logo = branding.logo if mail_message.blocks else None
    content_id = f"logo.{message_id}@{branding.host}"
    text = html.rendered(mail_message, branding, f"cid:{content_id}" if logo else None)
    message.add_alternative(text, subtype="html", cte=_ENCODING)
    if logo is None:
        return
    _, with_logo = message.iter_parts()
    with_logo.add_related(
        logo.content,
        "image",
        "png",
        cid=f"<{content_id}>",
        disposition="inline",
        filename="logo.png",
    )
    with_logo.set_boundary(f"=_{message_id}_html")


def _address(address: str) -> str:
    """The address with its domain in ASCII, which every server accepts. Raises Unsendable."""
    local, _, domain = address.rpartition("@")
    ascii_domain = domain_names.key(domain)
    if not (local and ascii_domain and ascii_domain.isascii()):
        raise Unsendable("the address has no domain that a server knows")
    if _ENCODED in local:
        raise Unsendable("the address is an encoded one")
    return f"{local}@{ascii_domain}"


def _plain(text: str) -> str:
    """The text, with nothing that could be taken for an encoded word."""
    return text.replace(_ENCODED, "= ?")
