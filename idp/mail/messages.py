"""Messages: written in the recipient's language, and put into the outbox.

A message is committed in the unit of the change that it reports: neither is stored without the
other. `idp.mail.delivery` sends it afterwards. If no mail server is configured it is held in the
outbox, and an operator on the local machine can read it at `PAGE`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from html import escape
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import Struct, structs

from idp.config.settings import Config
from idp.foundation import i18n
from idp.foundation.i18n import Bundle, Message, message
from idp.foundation.opaque_tokens import Confidential
from idp.records import OUTBOX, MailKind, MailState, OutboxMessage, User, sealed_fields
from idp.service import Service
from storage import Insert, Write

PAGE: Final = "/dev/mail"
# Messages are deleted after this time, sent or not.
LIFETIME: Final = timedelta(days=7)
MAX_LISTED: Final = 100
TEXT_MESSAGES: Final = frozenset[MailKind]({"verify_phone"})  # sent by SMS
_PURPOSE: Final = sealed_fields.MAIL.purpose
_LINK_PARTS: Final = re.compile(r"[.@:/]")
_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


class MessageCode(Struct, frozen=True):
    """A part of a message: a code, on a line of its own."""

    value: str


class MessageLink(Struct, frozen=True):
    """A part of a message: a link, after a text (`label`) that names its target."""

    label: Message | str
    url: str


class Title(Struct, frozen=True):
    """A part of a message: its heading, always the first part."""

    text: str


class Block(Struct, frozen=True):
    """A part of a message in the recipient's language, as it is stored until the message is sent.
    `text` is the code, or the label of the link to `url`."""

    kind: Literal["text", "title", "code", "link"]
    text: str
    url: str = ""


DeliveryStatus: TypeAlias = Literal["", "held", "queued"]
Part: TypeAlias = Message | str | MessageCode | MessageLink | Title


class Wording(Struct, frozen=True):
    """An organization's texts for one type of message; an empty text means the built-in one.
    `text` is the first paragraph, and `button_text` the label of the link; the code, its validity
    and the warning always follow."""

    subject: str = ""
    title: str = ""
    greeting: str = ""
    text: str = ""
    button_text: str = ""


_BUILT_IN: Final = Wording()


class MailMessage(Confidential, frozen=True, kw_only=True):
    """The contents of a message. `code` and `url` are for the recipient to use; None if there
    are none.

    `idp.mail.html` makes the HTML of a mail from the `blocks`, in the branding of the organization
    `org_id`. `html` is a plain form of it, for a process of a release that can't read blocks.
    """

    to: str
    subject: str
    text: str
    html: str
    language: str = ""
    code: str | None = None
    url: str | None = None
    blocks: tuple[Block, ...] = ()
    org_id: str | None = None


class HeldMessage(Confidential, frozen=True):
    """A message that is held in the outbox, decrypted."""

    id: str
    kind: MailKind
    created_at: datetime
    user_id: str | None
    mail_message: MailMessage


def is_readable(config: Config) -> bool:
    """Returns whether recipients can read the messages of this installation: because it sends
    mail, or displays messages on the local machine."""
    return config.sends_mail or config.is_loopback


def page_url(config: Config) -> str | None:
    """Returns the address of the page that displays held messages on the local machine; None if
    mail is sent, or the page is not offered because the issuer is not a loopback address."""
    is_offered = config.is_loopback and not config.sends_mail
    return config.issuer + PAGE if is_offered else None


def bundle_for(config: Config, *languages: str | None) -> Bundle:
    """Returns the translated texts of the service in the first of `languages` that is available,
    else in the default language; None is ignored."""
    tags = " ".join(tag for tag in languages if tag)
    return i18n.load(i18n.negotiate(None, tags, None, config.default_language))


def write(
    bundle: Bundle,
    to: str,
    subject: Message,
    parts: Sequence[Part],
    wording: Wording = _BUILT_IN,
    *,
    name: str | None = None,
) -> MailMessage:
    """Returns a message that consists of these parts, in the language of `bundle`. The texts of
    `wording` replace the subject, the greeting, the first part and the labels of links; its title
    is added. `name` is that of the recipient: only a user whose address is verified is greeted, so
    that no one can choose a text that a stranger receives.

    `to` is a validated e-mail address (`idp.schema.field_rules.EmailRule`) or phone number.
    """
    title = _one_line(wording.subject or bundle.text(subject))
    parts = list(_with_wording(wording, parts, name))
    code = next((part.value for part in parts if isinstance(part, MessageCode)), None)
    url = next((part.url for part in parts if isinstance(part, MessageLink)), None)
    blocks = tuple(_block(bundle, part) for part in parts)
    body = "\n".join(map(_as_html, blocks))
    return MailMessage(
        to=_one_line(to),
        subject=title,
        text="\n\n".join(map(_as_text, blocks)) + "\n",
        html=_HTML.format(
            lang=escape(bundle.tag), dir=bundle.direction, title=escape(title), body=body
        ),
        language=bundle.tag,
        code=code,
        url=url,
        blocks=blocks,
    )


def greeted_name(user: User) -> str | None:
    """Returns the name by which a mail greets a user, None if the address is not verified."""
    return user.profile.display_name if user.email and user.email.is_verified else None


def without_auto_links(text: str) -> str:
    """Returns a name that a user typed, in one line, of which no mail program makes a link: a
    word joiner (U+2060) follows each `.`, `@`, `:` and `/`."""
    return _LINK_PARTS.sub("\\g<0>\u2060", _one_line(text))


def _with_wording(wording: Wording, parts: Sequence[Part], name: str | None) -> Iterator[Part]:
    first, *further_parts = parts
    if wording.title:
        yield Title(wording.title)
    if wording.greeting:
        yield wording.greeting
    elif name:
        yield message("Hello %(name)s,", context="mail", name=without_auto_links(name))
    yield wording.text or first
    for part in further_parts:
        if isinstance(part, MessageLink) and wording.button_text:
            yield MessageLink(wording.button_text, part.url)
        else:
            yield part


_HTML: Final = """\
<!doctype html>
<html lang="{lang}" dir="{dir}">
<head>
<meta charset="utf-8">
<title>{title}</title>
</head>
<body>
{body}
</body>
</html>
"""


def _one_line(text: str) -> str:
    """A header's value without line ends, so that it can't begin another header."""
    return _CONTROLS.sub(" ", text).strip()


def _block(bundle: Bundle, part: Part) -> Block:
    if isinstance(part, MessageCode):
        return Block("code", part.value)
    if isinstance(part, MessageLink):
        return Block("link", bundle.text(part.label), part.url)
    if isinstance(part, Title):
        return Block("title", part.text)
    return Block("text", bundle.text(part))


def _as_text(block: Block) -> str:
    match block.kind:
        case "code":
            return f"    {block.text}"
        case "link":
            return f"{block.text}\n{block.url}"
    return block.text


def _as_html(block: Block) -> str:
    text, url = escape(block.text), escape(block.url)
    match block.kind:
        case "code":
            return f'<p style="font-size: 1.5em"><code dir="ltr">{text}</code></p>'
        case "link":
            return f'<p>{text}<br>\n<a dir="ltr" href="{url}">{url}</a></p>'
        case "title":
            return f"<h1>{text}</h1>"
    return f"<p>{text}</p>"


def posting(
    service: Service,
    kind: MailKind,
    mail_message: MailMessage,
    user_id: str | None = None,
    *,
    org_id: str | None,
) -> Insert:
    """Returns the write that puts a message into the outbox, from which it is sent, or where it is
    held if nothing is configured to send it; the caller commits the write. `user_id` is the id of
    the recipient, None if the recipient is no user; a mail has the branding of the organization
    `org_id`."""
    now = service.clock.now()
    mail_message = structs.replace(mail_message, org_id=org_id)
    mail = OutboxMessage(
        id=service.random.ordered_id(now),
        kind=kind,
        sealed=service.master_key.seal(msgspec.json.encode(mail_message), _PURPOSE),
        created_at=now,
        expires_at=now + LIFETIME,
        state="queued" if is_sent(service.config, kind) else "held",
        user_id=user_id,
        due_at=now,
    )
    return Insert(OUTBOX, mail)


def is_sent(config: Config, kind: MailKind) -> bool:
    """Returns whether this installation can send messages of this kind; otherwise they are
    held."""
    return bool(config.sms_hook_url if kind in TEXT_MESSAGES else config.smtp_host)


def delivery_status(writes: Sequence[Write]) -> DeliveryStatus:
    """Returns the delivery status of the messages that these writes put into the outbox: `held` if
    at least one is held, `queued` if all are to be sent, empty if there are none."""
    states: set[MailState] = {
        write.record.state
        for write in writes
        if isinstance(write, Insert) and isinstance(write.record, OutboxMessage)
    }
    if "held" in states:
        return "held"
    return "queued" if states else ""


async def held(service: Service) -> list[HeldMessage]:
    """Returns the newest held messages, the newest first."""
    page = await service.store.find(
        OUTBOX, {"state": "held"}, order="created_at", descending=True, limit=MAX_LISTED
    )
    return [
        HeldMessage(mail.id, mail.kind, mail.created_at, mail.user_id, opened(service, mail))
        for mail in page.records
    ]


def opened(service: Service, mail: OutboxMessage) -> MailMessage:
    """Returns the decrypted contents of a message in the outbox; those of a sent message are
    deleted, so it must not have been sent yet."""
    data = service.master_key.open(mail.sealed, _PURPOSE)
    return msgspec.json.decode(data, type=MailMessage)
