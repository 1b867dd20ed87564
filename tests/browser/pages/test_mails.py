"""Mails, as a mail program that is made of Chromium draws them: every kind, in light and dark, on
a phone and beside other mails, with and without pictures."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import pytest
from msgspec import structs

from idp.foundation import i18n
from idp.mail import branding, html
from idp.policies import palette
from idp.records import USERS, LabelRules
from tests.browser.pages.looking import barriers, overflows
from tests.support.clock import SteppingClock
from tests.support.pictures import encoded
from tests.support.samples.mails import KINDS, every_mail
from tests.support.service import start_server, stop_server

WIDTHS = (320, 600)
SCHEMES = ("light", "dark")
LOOKED_AT_BY_AXE = ((320, "dark"), (600, "light"))
BY_DEFAULT = ("ar",)
LANGUAGES = [
    pytest.param(tag, marks=() if tag in BY_DEFAULT else pytest.mark.load)
    for tag in i18n.available()
]
COLOURS = LabelRules(primary_color="#7a1f3d", background_color_dark="#101418")


@pytest.fixture(scope="module")
def mails():
    """The mails of each language, and the built-in branding. They are made in a thread, because
    the event loop of this one is the browser's."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, every_language()).result()


async def every_language():
    server, http = await start_server(SteppingClock())
    user = (await server.store.find(USERS, {"login_key": "demo"})).records[0]
    look = await branding.find(server.service, None)
    mails = {tag: await every_mail(server.service, user, tag) for tag in i18n.available()}
    await stop_server(server, http)
    return mails, look


def with_brand(look):
    """The branding of an organization with colours and a logo of its own."""
    light, dark = (
        palette.palette(palette.colours(COLOURS, scheme) or palette.BUILT_IN[scheme])
        for scheme in SCHEMES
    )
    logo = branding.encoded(encoded(size=(400, 120)), "#ffffff")
    return structs.replace(look, light=light, dark=dark, logo=logo, support_email="help@a.example")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_mail_is_for_everybody(mails, looker, language):
    by_language, look = mails
    branded = with_brand(look)
    logo = html.data_url(branded.logo)
    looks = [(look, None), (branded, logo), (branded, None)]
    page = looker.page

    assert sorted(by_language[language]) == KINDS
    for n, (kind, mail) in enumerate(by_language[language].items()):
        shown, logo_url = looks[n % len(looks)]
        page.goto("about:blank")
        page.set_content(html.rendered(mail, shown, logo_url))
        for width, scheme in product(WIDTHS, SCHEMES):
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme=scheme, forced_colors="none")
            assert not overflows(page), (kind, width)
            assert page.locator("h1").count() == 1
            if (width, scheme) in LOOKED_AT_BY_AXE:
                assert barriers(page) == [], (kind, width, scheme)
        assert page.locator("img").count() == (1 if logo_url else 0)
        assert page.evaluate("[...document.images].every((one) => one.naturalWidth > 0)")
