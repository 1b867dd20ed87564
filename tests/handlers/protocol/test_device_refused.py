"""The device authorization endpoint refuses what is wrong, and the page guesses."""

from __future__ import annotations

import asyncio

import pytest

from idp.records import AUTH_REQUESTS, DEVICE_REQUESTS, LOGIN_NAME_BACKOFFS, USER_CODES
from tests.support.protocol.answers import assert_refused
from tests.support.protocol.device import GRANTS, PATH, Device, at_confirmation, type_code
from tests.support.sign_in.steps import Seen, shape, text_of
from tests.support.store.stored import everything, only


@pytest.fixture
def settings():
    return {"trusted_proxies": ("127.0.0.1",)}


@pytest.fixture
def device(io_loop, server, new_visitor):
    party = io_loop.run_sync(lambda: server.register("Television", grant_types=GRANTS))
    return Device(party, new_visitor())


# The endpoint


@pytest.mark.parametrize(
    ("headers", "changes", "status", "error"),
    [
        ({}, {"client_id": None}, 400, "invalid_client"),
        ({}, {}, 400, "invalid_client"),
        ({}, {"client_id": "nobody"}, 400, "invalid_client"),
        ({"Authorization": "Basic bm9ib2R5Og=="}, {"client_id": None}, 401, "invalid_client"),
        (None, {"client_id": "other"}, 400, "invalid_request"),
        (None, {"client_secret": "secret"}, 400, "invalid_request"),
        (None, {"scope": ["openid", "email"]}, 400, "invalid_request"),
        (None, {"state": ["1", "2"]}, 400, "invalid_request"),
        (None, {"scope": 'openid "email"'}, 400, "invalid_scope"),
        (None, {"scope": "openid\temail"}, 400, "invalid_scope"),
        (None, {"scope": "a" * 5000}, 400, "invalid_scope"),
    ],
)
async def test_a_refused_request_leaves_nothing(server, device, headers, changes, status, error):
    before = await everything(server.store)
    page = await device.ask(headers, **changes)

    assert_refused(page, status, error)
    assert await everything(server.store) == before


async def test_an_application_without_the_grant_is_refused_at_both_endpoints(server, visitor):
    other = Device(await server.register("Other"), visitor)
    before = await everything(server.store)
    asked, polled = await other.ask(), await other.poll(device_code="d" * 65)

    assert_refused(asked, 400, "unauthorized_client")
    assert_refused(polled, 400, "unauthorized_client")
    assert await everything(server.store) == before


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "HEAD", "PATCH"])
async def test_only_post_is_taken(visitor, method):
    page = await visitor.request(method, PATH)

    assert (page.status, page.headers["Allow"]) == (405, "POST")


async def test_a_request_is_a_form_and_nothing_in_the_address(server, visitor, device):
    before = await everything(server.store)
    headers = device.party.basic()
    json = await visitor.post(PATH, json={"scope": "openid"}, headers=headers)
    query = await visitor.post(f"{PATH}?scope=openid", {}, headers=headers)

    assert_refused(json, 400, "invalid_request")
    assert_refused(query, 400, "invalid_request")
    assert await everything(server.store) == before


async def test_unknown_scopes_are_dropped(server, device):
    await device.begin(scope="openid urn:unknown email")

    assert (await only(server.store, DEVICE_REQUESTS)).scopes == ["openid", "email"]


# The page


async def test_the_page_asks_for_the_code_and_writes_nothing(server, visitor):
    before = await everything(server.store)
    page = await visitor.get("/ui/device")

    assert page.status == 200
    assert shape(page) == ("device", ["userCode"], [])
    assert len(page.headers.get_list("Set-Cookie")) == 1  # so that a form sent twice is known
    assert await everything(server.store) == before


async def test_the_link_fills_the_code_in_and_a_person_has_to_send_it(server, visitor, device):
    told = await device.begin()
    before = await everything(server.store)
    page = await visitor.get(told["verification_uri_complete"])
    after = await everything(server.store)
    next = await visitor.submit(page, **page.inputs)

    assert page.inputs == {"userCode": told["user_code"]}
    assert after == before
    assert next.name == "login-name"


@pytest.mark.parametrize(
    "typing",
    [
        str.lower,
        lambda code: code.replace("-", ""),
        lambda code: code.replace("-", " "),
        lambda code: " ".join(code.lower()),
        lambda code: f"  {code}\t",
        lambda code: code.replace("-", "–"),
    ],
)
async def test_the_code_counts_in_whatever_form_it_is_typed(visitor, device, typing):
    told = await device.begin()
    page = await type_code(visitor, typing(told["user_code"]))

    assert page.name == "login-name"


@pytest.mark.parametrize(
    "typed", ["", "  ", "BBBB-BBBB", "BBBB", "AEIO-UAEI", "B" * 5000, "\0" * 8, "ßßßß"]
)
async def test_a_code_that_no_device_shows_is_refused_on_the_page(server, visitor, device, typed):
    await device.begin()
    before = await everything(server.store)
    page = await type_code(visitor, typed)

    assert (page.status, page.name) == (400, "device")
    assert [each["data-page"] for each in Seen(page).all("body")] == ["device"]
    assert page.text.count('aria-invalid="true"') == 1
    assert await everything(server.store) == before


async def test_an_expired_code_is_reported_as_expired(server, visitor, device):
    told = await device.begin()
    server.clock.advance(300)
    before = await everything(server.store)
    page = await type_code(visitor, told["user_code"])

    assert (page.status, page.name) == (410, "expired")
    assert "That code has expired. Request a new one on the device." in text_of(page)
    assert await everything(server.store) == before


async def test_a_sign_in_that_outlasts_the_code_expires(server, visitor, device):
    told = await device.begin()
    page = await at_confirmation(visitor, told["user_code"], server.user)
    server.clock.advance(300)
    before = await everything(server.store)
    late = await visitor.submit(page, decision="allow")

    assert (late.status, late.name) == (410, "expired")
    assert await everything(server.store) == before


async def test_the_form_of_another_site_is_refused(server, visitor, device):
    told = await device.begin()
    before = await everything(server.store)
    form = {"userCode": told["user_code"]}
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}):
        page = await visitor.post("/ui/device", form, headers=headers)
        assert page.status == 403
    assert await everything(server.store) == before


# Guessing


@pytest.mark.promise("device: sign-in")
async def test_guesses_are_made_slow(server, visitor, device):
    told = await device.begin()
    pages = [await type_code(visitor, "BBBB-BBBB") for _ in range(7)]
    right = await type_code(visitor, told["user_code"])
    server.clock.advance(int(right.headers["Retry-After"]))
    later = await type_code(visitor, told["user_code"])

    assert [page.status for page in pages] == [400] * 6 + [429]
    assert (right.status, right.name) == (429, "device")
    assert later.name == "login-name"


async def test_what_can_not_be_a_code_is_no_guess(visitor):
    pages = [await type_code(visitor, "BBBB-BBB") for _ in range(9)]

    assert {page.status for page in pages} == {400}


async def test_guesses_from_one_address_leave_others_alone(server, new_visitor, device):
    told = await device.begin()
    guessing = new_visitor()
    other = new_visitor(headers={"X-Forwarded-For": "203.0.113.9"})
    guesses = [await type_code(guessing, "BBBB-BBBB") for _ in range(7)]

    assert guesses[-1].status == 429
    assert (await type_code(other, told["user_code"])).name == "login-name"


@pytest.mark.full
async def test_guesses_from_the_networks_of_one_ipv6_site_are_limited_together(
    server, new_visitor, device
):
    told = await device.begin()
    guessing = new_visitor()
    statuses = []
    for n in range(82):
        guessing.http.headers["X-Forwarded-For"] = f"2001:db8:1:{n:x}::1"
        statuses.append((await type_code(guessing, "BBBB-BBBB")).status)
    elsewhere = new_visitor(headers={"X-Forwarded-For": "2001:db8:2::1"})

    assert statuses == [400] * 81 + [429]
    assert await counted(server, "device:2001:db8:1:51::/64") == 0
    assert (await type_code(elsewhere, told["user_code"])).name == "login-name"
    assert await counted(server, "device:2001:db8:2::/48") == 0


async def counted(server, name):
    return (await server.store.get(LOGIN_NAME_BACKOFFS, name)).backoff.tries


# Two browsers


@pytest.mark.promise("device: sign-in")
async def test_a_code_counts_in_the_browser_in_which_it_was_typed_first(
    server, visitor, new_visitor, device
):
    told = await device.begin()
    first = await type_code(visitor, told["user_code"])
    before = await everything(server.store)
    second = await type_code(new_visitor(), told["user_code"])
    after = await everything(server.store)
    again = await type_code(visitor, told["user_code"])

    assert (first.name, again.name) == ("login-name", "login-name")
    assert first.url == again.url
    assert (second.status, second.name) == (400, "device")
    assert after == before


async def test_of_many_browsers_at_once_one_goes_on(server, new_visitor, device):
    told = await device.begin()
    browsers = [new_visitor() for _ in range(4)]
    pages = await asyncio.gather(*[type_code(each, told["user_code"]) for each in browsers])
    stored = await everything(server.store)

    assert sorted(page.status for page in pages) == [200, 400, 400, 400]
    assert len(stored[AUTH_REQUESTS.name]) == 1


@pytest.mark.promise("device: sign-in")
async def test_another_browser_can_not_decide(server, visitor, new_visitor, device):
    told = await device.begin()
    page = await at_confirmation(visitor, told["user_code"], server.user)
    thief = new_visitor()
    await thief.sign_in(server.demo().authorize_url(), *await server.copy_user("eve"))
    before = await everything(server.store)
    stolen = await thief.send(page, decision="allow")
    strange = await new_visitor().send(page, decision="allow")
    opened = await thief.open(page.url)

    assert (stolen.status, strange.status, opened.status) == (403, 403, 410)
    assert await everything(server.store) == before


@pytest.mark.full
@pytest.mark.parametrize("changes", [{"token": ""}, {"token": "x"}, {"token": "a" * 43}])
async def test_a_decision_without_the_form_s_token_is_refused(server, visitor, device, changes):
    told = await device.begin()
    page = await at_confirmation(visitor, told["user_code"], server.user)
    before = await everything(server.store)
    answer = await visitor.send(page, decision="allow", **changes)

    assert answer.status == 403
    assert await everything(server.store) == before


async def test_the_decision_is_shown_to_that_browser_alone(server, visitor, new_visitor, device):
    told = await device.begin()
    page = await at_confirmation(visitor, told["user_code"], server.user)
    done = await visitor.submit(page, decision="allow")
    other = await new_visitor().open(done.url)
    unknown = await visitor.open("/ui/device/done?flow=unknown")

    assert "The device is signed in." in text_of(done)
    assert "The device is signed in." not in text_of(other) + text_of(unknown)


async def test_the_records_of_a_device_are_forgotten_in_time(server, device):
    await device.begin()
    server.clock.advance(300 + 3600)
    stored = await everything(server.store)

    assert stored[DEVICE_REQUESTS.name] == stored[USER_CODES.name] == {}


@pytest.mark.parametrize(("tag", "words"), [("de", "Gerät verbinden"), ("ar", "توصيل جهاز")])
async def test_the_pages_speak_the_person_s_language(server, visitor, device, tag, words):
    told = await device.begin()
    page = await visitor.get("/ui/device", headers={"Accept-Language": tag})

    assert page.headers["Content-Language"] == tag
    assert words in text_of(page)
    assert told["user_code"] not in page.text
