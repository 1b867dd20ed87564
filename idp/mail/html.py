"""The HTML of a mail, in the branding of an organization.

It is written for mail programs: tables and inline styles, no script, nothing that is loaded from
elsewhere. Programs with a dark scheme use the colours of dark pages.
"""

from __future__ import annotations

import base64
from functools import cache
from importlib import resources

from mako.lookup import TemplateLookup

from idp.foundation import i18n
from idp.foundation.i18n import Message, message
from idp.mail.branding import MailBranding, MailLogo
from idp.mail.messages import MailMessage


def rendered(mail_message: MailMessage, branding: MailBranding, logo_url: str | None) -> str:
    """Returns the HTML. `logo_url` is the address of the logo, as a part of the mail (`cid:`) or
    as a `data:` URL; None leaves it out."""
    if not mail_message.blocks:  # written by a release that stored only the HTML
        return mail_message.html
    bundle = i18n.load(mail_message.language or i18n.SOURCE)
    title, blocks = mail_message.subject, mail_message.blocks
    if blocks[0].kind == "title":
        title, blocks = blocks[0].text, blocks[1:]
    html: str = _template().render(
        lang=bundle.tag,
        dir=bundle.direction,
        subject=mail_message.subject,
        title=title,
        preheader=next((block.text for block in blocks if block.kind == "text"), ""),
        blocks=blocks,
        branding=branding,
        logo=branding.logo if logo_url else None,
        logo_url=logo_url,
        foot=[bundle.text(line) for line in foot(branding)],
    )
    return html


def foot(branding: MailBranding) -> list[Message]:
    """Returns the last lines of every mail: the sender, and the support address."""
    values = {"service": branding.service_name, "host": branding.host}
    sender = message("%(service)s sent you this email from %(host)s.", context="mail", **values)
    if branding.service_name == branding.host:
        sender = message("This email was sent by %(host)s.", context="mail", host=branding.host)
    if not branding.support_email:
        return [sender]
    support = message(
        "If you need help, write to %(address)s.",
        context="mail",
        address=branding.support_email,
    )
    return [sender, support]


def data_url(logo: MailLogo | None) -> str | None:
    """Returns the address of a logo that contains the logo itself, to display a mail on a page."""
    return f"data:image/png;base64,{base64.b64encode(logo.content).decode()}" if logo else None


@cache
def _template():  # type: ignore[no-untyped-def]  # Mako has no types
    lookup = TemplateLookup(
        directories=[str(resources.files("templates"))],
        default_filters=["h"],
        strict_undefined=True,
        filesystem_checks=False,
    )
    return lookup.get_template("mail/frame.mako")
