"""People with passkeys: made at the pages of their account, used at those of a sign-in."""

from __future__ import annotations

import json

from idp.foundation import base64url
from tests.support.browsers.authenticator import Device
from tests.support.sign_in.steps import Seen

NEW = "/ui/account/passkeys/new"


def options_of(page):
    """The options that the page's script would pass to the browser."""
    (place,) = [one for one in Seen(page).all("div") if "data-passkey" in one]
    return json.loads(place["data-options"])


async def enrol(visitor, server, device=None, name="Phone", **wrong):
    """Add a passkey to the account of whoever is signed in there; the device, and the answer."""
    device = device or Device(server.issuer)
    page = await visitor.open(NEW)
    assert page.name == "passkey-enrol", page.text
    answer = device.create(options_of(page), **wrong)
    page = await visitor.submit(page, deviceName=name, passkey=answer)
    if page.name == "recovery-codes":
        page = await visitor.submit(page)
    return device, page


async def at_name(visitor, party, **changes):
    """The page of login names of a new sign-in."""
    page = await visitor.open(party.authorize_url(**changes))
    if page.name == "accounts":
        page = await visitor.submit(page, account="other")
    assert page.name == "login-name", page.text
    return page


async def sign_in(visitor, party, device, **wrong):
    """Signs in by passkey; returns the final page."""
    page = await at_name(visitor, party)
    return await visitor.submit(page, passkey=device.get(options_of(page), **wrong))


async def claims(visitor, party, page):
    """The claims of the ID token that results from a sign-in."""
    redeemed = await party.redeem(visitor, page.answer["code"])
    assert redeemed.status == 200, redeemed.text
    part = redeemed.json()["id_token"].split(".")[1]
    return json.loads(base64url.decode(part))
