"""The HTML of mails: the branding of the organization, nothing from elsewhere, nothing that a
name can add."""

from __future__ import annotations

import io
import os
import re
from html.parser import HTMLParser

import pytest
from msgspec import structs
from PIL import Image

from idp.foundation.i18n import load, message
from idp.mail import branding, html, messages
from idp.mail import delivery as mail_delivery
from idp.mail.messages import MessageCode, MessageLink
from idp.policies import effective, images, pictures
from idp.records import OUTBOX, PICTURES, POLICIES, USERS, LabelRules, Policy, PrivacyRules
from storage import Insert
from tests.support.pictures import encoded, opened
from tests.support.samples.mails import every_mail

TO = "nora@example.com"
HOSTILE = (
    "evil.example",
    "https://evil.example/login",
    "www.evil.example",
    "a@evil.example",
    "<b>Bold</b>",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "${7 * 7}",
    "%(host)s",
    "{{.Code}}",
    "Bcc: all@evil.example",
    "Nora\r\nBcc: all@evil.example",
    "Nora\n\nSecond body",
    "Nora\u2028Nora",
    "\u202egnihtemos",
    "</td></tr></table>",
    "<!--",
    "&amp;&lt;",
    "=?utf-8?q?Nora?=",
    "N" * 200,
)


async def brand(server, org_id):
    """Give an organization colours, a logo and a support address."""
    now = server.clock.now()
    rules = [
        ("label", LabelRules(primary_color="#7a1f3d", disable_watermark=True)),
        ("privacy", PrivacyRules(support_email="help@shop.example")),
    ]
    policies = [
        Policy(
            id=effective.policy_id(org_id, kind),
            kind=kind,
            rules=its_rules,
            org_id=org_id,
            created_at=now,
            changed_at=now,
        )
        for kind, its_rules in rules
    ]
    logo = images.reencoded(encoded(size=(400, 120)), pictures.PICTURE_LIMITS["logo"])
    picture = pictures.new(org_id, "logo", logo, now)
    await server.store.commit(
        *(Insert(POLICIES, policy) for policy in policies), Insert(PICTURES, picture)
    )
    server.service.settings_cache.forget()


def written(*parts, **options):
    parts = parts or (message("Grüße."), MessageCode("12345678"))
    return messages.write(load("en"), TO, message("A subject"), parts, **options)


async def post(service, mail, org_id=None):
    await service.store.commit(messages.posting(service, "verify_email", mail, org_id=org_id))
    await mail_delivery.deliver_due(service)


async def plain_branding(server):
    return await branding.find(server.service, None)


async def demo_user(server):
    return (await server.store.find(USERS, {"login_key": "demo"})).records[0]


async def test_a_mail_has_the_branding_of_its_organization(server, mailing, new_mail_server):
    org_id = (await demo_user(server)).org_id
    await brand(server, org_id)
    mail_server = await new_mail_server()
    service = mailing(mail_server)

    link = MessageLink(message("Open this page:"), "https://login.example/")
    await post(service, written(message("Hello."), link), org_id)
    await post(service, written(message("Hello."), link))

    own, others = mail_server.mails
    text = own.get_body(["html"]).get_content()
    assert "#7a1f3d" in text
    assert "help@shop.example" in text
    assert "help@shop.example" in own.get_body(["plain"]).get_content()
    plain = others.get_body(["html"]).get_content()
    assert "#7a1f3d" not in plain
    assert "help@shop.example" not in plain
    assert "cid:" not in plain


async def test_the_logo_is_a_part_of_the_mail_and_nothing_is_loaded_from_elsewhere(
    server, mailing, new_mail_server
):
    org_id = (await demo_user(server)).org_id
    await brand(server, org_id)
    mail_server = await new_mail_server()

    await post(mailing(mail_server), written(), org_id)

    (mail,) = mail_server.mails
    plain, related = mail.iter_parts()
    body, logo = related.iter_parts()
    assert [part.defects for part in mail.walk()] == [[]] * 5
    assert (mail.get_content_type(), related.get_content_type()) == (
        "multipart/alternative",
        "multipart/related",
    )
    assert (plain.get_content_type(), body.get_content_type()) == ("text/plain", "text/html")
    assert opened(logo.get_content()).format == "PNG"
    assert logo.get_content_disposition() == "inline"
    content_id = logo["Content-ID"].strip("<>")
    assert re.findall(r'(?:src|background)="([^"]*)"', body.get_content()) == [f"cid:{content_id}"]
    assert "url(" not in body.get_content()
    assert len(mail_server.raw_messages[0]) <= 60_000


async def test_each_attempt_sends_the_same_bytes(server, mailing, new_mail_server):
    org_id = (await demo_user(server)).org_id
    await brand(server, org_id)
    mail_server = await new_mail_server("drop", "250 OK")
    service = mailing(mail_server)

    await post(service, written(), org_id)
    server.clock.advance(3600)
    await mail_delivery.deliver_due(service)

    first, second = mail_server.raw_messages
    assert first == second
    assert (await only(service)).state == "sent"


async def only(service):
    (mail,) = [each async for each in service.store.scan(OUTBOX)]
    return mail


async def test_a_mail_of_the_release_before_is_sent_with_its_html(
    server, mailing, new_mail_server
):
    mail_server = await new_mail_server()
    old = structs.replace(written(), blocks=(), html="<p>As it was stored.</p>")

    await post(mailing(mail_server), old)

    (mail,) = mail_server.mails
    assert mail.get_body(["html"]).get_content().strip() == "<p>As it was stored.</p>"


class Structure(HTMLParser):
    """The elements and attributes of a document, without the texts."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, sorted(name for name, _ in attributes)))


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_name_adds_nothing_to_a_mail(server, mailing, new_mail_server, name):
    mail_server = await new_mail_server()
    service = mailing(mail_server)
    look = await plain_branding(server)

    await post(service, written(name=name))

    (mail,) = mail_server.mails
    text = mail.get_body(["html"]).get_content()
    expected = html.rendered(written(name="Nora"), look, None)
    assert mail.get_all("Bcc") is None
    assert mail["Subject"] == "A subject"
    assert Structure(text).found == Structure(expected).found
    greeting = re.search("Hello (.*),", mail.get_body(["plain"]).get_content())[1]
    assert not re.search(r"\.\w|@\w|//|:/", greeting)


async def test_only_a_user_whose_address_is_verified_is_greeted_by_name(server):
    user = await demo_user(server)
    mails = await every_mail(server.service, user, "en")
    name = user.profile.display_name
    greeted = {kind for kind, mail in mails.items() if f"Hello {name}," in mail.text}

    assert {"password_changed", "account_locked", "reset_password"} <= greeted
    assert greeted.isdisjoint({"register", "account_exists", "verify_email", "invite"})


async def test_a_link_is_a_button_and_its_address_can_be_read(server):
    url = "https://login.example/x?a=1&b=2"
    mail = written(message("Hello."), MessageLink(message("Open this page:"), url))

    text = html.rendered(mail, await plain_branding(server), None)

    assert text.count('href="https://login.example/x?a=1&amp;b=2"') == 2
    assert ">Open this page</a>" in text
    assert ">https://login.example/x?a=1&amp;b=2</a>" in text


def noisy(width, height):
    return Image.frombytes("RGBA", (width, height), os.urandom(4 * width * height))


def test_a_logo_is_small_whatever_it_shows():
    target = io.BytesIO()
    noisy(400, 120).save(target, "PNG")

    logo = branding.encoded(target.getvalue(), "#ffffff")

    assert len(logo.content) <= 30_000
    assert (logo.width, logo.height) == (160, 48)
    assert opened(logo.content).format == "PNG"


def test_a_logo_that_cant_be_read_is_left_out():
    assert branding.encoded(b"\x89PNG\r\n\x1a\n", "#ffffff") is None
