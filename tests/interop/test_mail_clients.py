"""Mails use nothing that Gmail, Outlook or Apple Mail don't support, by the tables of
caniemail.com, but for what they look right without."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from msgspec import structs

from idp.mail import branding, html
from idp.records import USERS
from tests.interop import node
from tests.support.pictures import encoded
from tests.support.samples.mails import KINDS, every_mail
from tests.support.skips import skip

CLIENTS = ("gmail.*", "outlook.*", "apple-mail.*")
# What a mail looks like where a feature is missing.
FALL_BACKS = {
    "color-scheme CSS property": "the client chooses the colours of dark pages itself",
    "color-scheme meta tag": "the same",
    "@media": "the colours of light pages, and the padding of wide ones",
    "<style> element": "the same: all else is in attributes",
    "<body> element": "the outer table has the same ground",
    "role attribute": "a screen reader may announce the tables",
    "<bdi> element": "a name takes the direction of the text around it",
    "display:none": "the preview of the text has no height",
    "max-height property": "the preview of the text is not displayed",
    "overflow": "the same",
    "border-radius": "corners are square",
    "overflow-wrap": "word-break is beside it",
    "word-break": "overflow-wrap is beside it, or a long address is wider",
    "system-ui, ui-serif, ui-sans-serif, ui-rounded, ui-monospace": "the next font of the list",
}


@pytest.fixture(scope="module")
def checked():
    """A function that returns what the mail clients don't support of each mail, by its name."""
    try:
        found = node.find()
        directory = node.install(found, Path(__file__).parent / "mail_clients")
    except node.NoNode as error:
        skip(error)

    def check(mails: dict[str, str]) -> dict[str, list[list[str]]]:
        ended = subprocess.run(
            [found.program, "check.js", *CLIENTS],
            cwd=directory,
            env=node.environment(found),
            input=json.dumps(mails),
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(ended.stdout)

    return check


async def mails(server):
    """Every kind, with the logo of an organization and without, as HTML."""
    (user,) = (await server.store.find(USERS, {"login_key": "demo"})).records
    plain = await branding.find(server.service, None)
    logo = branding.encoded(encoded(size=(400, 120)), "#ffffff")
    with_logo = structs.replace(plain, logo=logo)
    return {
        f"{kind}, {tag}, {look}": html.rendered(mail, shown, "cid:logo" if shown.logo else None)
        for tag in ("en", "ar")
        for kind, mail in (await every_mail(server.service, user, tag)).items()
        for look, shown in (("plain", plain), ("logo", with_logo))
    }


async def test_a_mail_uses_what_the_great_mail_clients_support(server, checked):
    found = checked(await mails(server))
    features = {feature for each in found.values() for _, feature in each}

    assert len(found) == 4 * len(KINDS)
    assert features - set(FALL_BACKS) == set()
    assert set(FALL_BACKS) - features == set(), "no longer needed"


async def test_what_is_not_supported_would_be_found(checked):
    found = checked({"bad": '<html><body><div style="display: flex">a</div></body></html>'})

    assert ["outlook.windows", "display:flex"] in found["bad"]
