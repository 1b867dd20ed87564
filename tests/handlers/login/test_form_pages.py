"""The form of each page counts in its own browser, with its token, and with what can be typed."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from idp.records import SESSIONS, USERS
from tests.handlers.login.form_pages import FORMS
from tests.support.slices import one_in
from tests.support.store.stored import everything

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
NEVER = ("%ED%A0%80", "%FF", "%")  # a lone surrogate, and what is no UTF-8 and no escape
LINK = "reset, link"
FREE = ("newPassword", "deviceName", "userName", "profile.givenName", "profile.familyName", "name")
ENDS = (
    "factor, app",
    "reset, new password",
    "passkey",
    "factor, recovery code",
    "logout",
    "own password",
)
ODD = ("\0", "x" * 201, "\u0131\u00df\u212a\u200b\u202e. ", "\r\nX-Evil: 1", "\u2028")

each_form = pytest.mark.parametrize("name", one_in(4, FORMS))
# The link of a mail counts in any browser, by itself.
bound = pytest.mark.parametrize("name", one_in(4, [each for each in FORMS if each != LINK]))


async def people(server):
    """What nobody but its owner may change."""
    found = await everything(server.store)
    return {name: found[name] for name in (USERS.name, SESSIONS.name)}


def body(page, fields, **odd):
    """The form as octets; what is `odd` stands in it as it is."""
    rest = {name: text for name, text in (page.hidden | fields).items() if name not in odd}
    return urlencode(rest) + "".join(f"&{name}={text}" for name, text in odd.items())


async def sent(visitor, page, octets):
    return await visitor.request("POST", page.url, content=octets, headers=FORM)


@bound
async def test_a_form_counts_in_its_own_browser_and_with_its_token(place, new_visitor, name):
    page, fields = await FORMS[name](place)
    other = new_visitor()
    theirs = await other.open(place.party.authorize_url())
    await other.submit(theirs, loginName="demo")
    before = await everything(place.server.store)
    stolen = await other.post(page.url, {**page.hidden, **fields})
    swapped = await place.visitor.post(page.url, {**theirs.hidden, **fields})
    bare = await place.visitor.post(page.url, fields)

    assert {stolen.status, swapped.status, bare.status} <= {303, 400, 403, 410}
    assert not any("code=" in (each.location or "") for each in (stolen, swapped, bare))
    assert await everything(place.server.store) == before
    done = await place.visitor.submit(page, **fields)
    assert done.status in (200, 303)
    assert await everything(place.server.store) != before


@each_form
async def test_what_can_not_be_typed_is_refused_and_changes_nothing(place, name):
    page, fields = await FORMS[name](place)
    before = await everything(place.server.store)
    for field in page.hidden | fields:
        huge = await sent(place.visitor, page, body(page, fields, **{field: "x" * 1_000_000}))
        assert (huge.status, huge.name) == (413, "error")
        for text in NEVER:
            spoilt = await sent(place.visitor, page, body(page, fields, **{field: text}))
            assert (spoilt.status, spoilt.name) == (400, "error")
        twice = await sent(place.visitor, page, body(page, fields) + f"&{field}=x")
        assert (twice.status, twice.name) == (400, "error")

    assert await everything(place.server.store) == before


@pytest.mark.full
@each_form
async def test_odd_characters_are_no_way_around_a_form(place, name):
    page, fields = await FORMS[name](place)
    before = await people(place.server)
    answers = [
        await place.visitor.send(page, **fields | {field: text})
        for field in fields
        for text in ODD
        if field not in FREE  # which may be what a person likes
    ]

    assert all("X-Evil" not in each.headers for each in answers)
    assert all("code=" not in (each.location or "") for each in answers)
    assert await people(place.server) == before


@pytest.mark.parametrize("name", one_in(2, ENDS))
async def test_the_cookie_is_new_after_a_sign_in_or_a_sign_out(place, new_visitor, name):
    page, fields = await FORMS[name](place)
    planted = dict(place.visitor.cookies)
    await place.visitor.submit(page, **fields)
    attacker = new_visitor()
    attacker.cookies.update(planted)

    assert dict(place.visitor.cookies) != planted
    assert (await place.party.silently(attacker))["error"] == "login_required"
