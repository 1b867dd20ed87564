"""Forms count only from the page they belong to: CSRF, swapped flows, odd bodies, odd values."""

import pytest

from idp.records import AUTH_REQUESTS, SESSIONS, USERS
from storage import Update
from tests.support.sign_in.registering import FIELDS, at_code, at_register, code_for
from tests.support.sign_in.steps import ADMIN_PASSWORD, Seen, at_change, at_password, leads_on

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
STEPS = ["login-name", "password", "accounts", "change-password", "register", "verify-email"]
CANARIES = [
    "\"><svg/onload=alert(1)>'",
    "{{7*7}}${7*7}<%= 7*7 %>",
    "\r\nX-Evil: 1",
    "\u2028javascript:alert(1)",
    "</textarea><script>alert(1)</script>",
]


async def reach(step, visitor, demo, server):
    """The visitor's page of that step, and what completes it."""
    admin, (name, password) = server.start.admin, server.user
    if step == "change-password":
        return await at_change(visitor, demo, admin), {"newPassword": ADMIN_PASSWORD}
    if step == "password":
        return await at_password(visitor, demo, name), {"password": password}
    if step == "register":
        return await at_register(visitor, demo), FIELDS
    if step == "verify-email":
        page = await at_code(visitor, demo)
        return page, {"code": await code_for(visitor)}
    if step == "accounts":
        await demo.tokens(visitor, name, password)
        server.clock.advance(1)
        page = await visitor.open(demo.authorize_url(prompt="select_account"))
        return page, {"account": page.buttons[0][1]}
    return await visitor.open(demo.authorize_url()), {"loginName": name}


async def sessions_in(server):
    return {one.id: one.agent_id async for one in server.store.scan(SESSIONS)}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("sends", ["its flow and form", "its form at the own flow"])
async def test_flows_of_two_browsers_can_not_be_swapped(new_visitor, demo, server, step, sends):
    victim, attacker = new_visitor(), new_visitor()
    theirs = await attacker.open(demo.authorize_url())
    own, fields = await reach(step, victim, demo, server)
    before = await sessions_in(server)
    address = theirs.url if sends == "its flow and form" else own.url
    swapped = await victim.post(address, {**theirs.hidden, **fields})
    shown = await victim.get(theirs.url)

    assert (swapped.status, swapped.name) == (403, "expired")
    assert (shown.status, shown.name) == (410, "expired")
    assert leads_on(swapped)
    assert await sessions_in(server) == before
    done = await victim.submit(own, **fields)
    assert done.status in (200, 303)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("token", [None, "", "wrong", "é", "\0"])
async def test_a_form_without_its_token_does_nothing(visitor, demo, server, step, token):
    page, fields = await reach(step, visitor, demo, server)
    before = await sessions_in(server)
    form = fields | ({} if token is None else {"token": token})
    refused = await visitor.post(page.url, form)

    assert (refused.status, refused.name) == (403, "expired")
    assert leads_on(refused)
    assert await sessions_in(server) == before


async def test_a_token_of_one_flow_does_not_fit_another(visitor, demo):
    first = await visitor.open(demo.authorize_url())
    second = await visitor.open(demo.authorize_url())
    refused = await visitor.post(second.url, {**first.hidden, "loginName": "demo"})

    assert (refused.status, refused.name) == (403, "expired")


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
    ],
)
async def test_a_form_sent_by_another_site_does_nothing(visitor, demo, server, headers):
    page, fields = await reach("password", visitor, demo, server)
    refused = await visitor.post(page.url, {**page.hidden, **fields}, headers=headers)

    assert (refused.status, refused.name) == (403, "expired")
    assert await sessions_in(server) == {}


@pytest.mark.parametrize("site", ["same-origin", "none"])
async def test_a_form_sent_by_its_page_counts(visitor, demo, server, site):
    page, fields = await reach("password", visitor, demo, server)
    headers = {"Sec-Fetch-Site": site, "Origin": server.issuer}
    answer = await visitor.post(page.url, {**page.hidden, **fields}, headers=headers)

    assert answer.status == 303


async def test_the_cookie_is_new_after_the_sign_in_and_the_old_one_worthless(
    visitor, new_visitor, demo, server
):
    page = await at_password(visitor, demo, "demo")
    planted = dict(visitor.cookies)
    await visitor.submit(page, password=server.user[1])
    attacker = new_visitor()
    attacker.cookies.update(planted)

    assert dict(visitor.cookies) != planted
    assert (await demo.silently(attacker))["error"] == "login_required"
    assert "code" in await demo.silently(visitor)


async def test_the_cookie_is_new_after_a_step_up_too(visitor, new_visitor, demo, server):
    await demo.tokens(visitor, *server.user)
    before = dict(visitor.cookies)
    server.clock.advance(10)
    page = await visitor.open(demo.authorize_url(prompt="login"))
    thief = new_visitor()
    thief.cookies.update(before)
    assert "code" in await demo.silently(thief)
    await visitor.submit(page, password=server.user[1])

    assert dict(visitor.cookies) != before
    assert (await demo.silently(thief))["error"] == "login_required"


async def test_a_cookie_that_was_made_up_opens_nothing(visitor, new_visitor, demo, server):
    await demo.tokens(visitor, *server.user)
    ((name, value),) = dict(visitor.cookies).items()
    for forged in (value[:-1], value + "A", value[:22] + "A" * 43, "A" * 65, "", "%00", "é"):
        stranger = new_visitor(headers={"Cookie": f"{name}={forged}".encode()})

        assert (await demo.silently(stranger))["error"] == "login_required"


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"loginName=%ff", FORM),
        (b"loginName=%", FORM),
        (b"loginName=%zz", FORM),
        (b"token=a&token=b", FORM),
        (b"loginName=demo", {"Content-Type": "text/plain"}),
        (b'{"loginName": "demo"}', {"Content-Type": "application/json"}),
        ("loginName=demo".encode("utf-16"), FORM),
        (b"loginName=demo", {}),
        (b"&".join([b"a=b"] * 101), FORM),
    ],
)
async def test_a_body_that_is_no_form_is_refused_and_leads_back(visitor, demo, body, headers):
    page = await visitor.open(demo.authorize_url())
    refused = await visitor.request("POST", page.url, content=body, headers=headers)

    assert (refused.status, refused.name) == (400, "error")
    assert (await visitor.open(Seen(refused).links[0])).name == "login-name"


async def test_a_body_that_is_too_large_is_refused_and_leads_back(visitor, demo):
    page = await visitor.open(demo.authorize_url())
    refused = await visitor.post(page.url, {**page.hidden, "loginName": "x" * 70_000})

    assert (refused.status, refused.name) == (413, "error")
    assert (await visitor.open(Seen(refused).links[0])).name == "login-name"


@pytest.mark.parametrize("name", ["password", "decision", "token"])
async def test_a_field_sent_twice_is_refused(visitor, demo, server, name):
    page, fields = await reach("password", visitor, demo, server)
    form = {**page.hidden, **fields, name: ["demo", "demo"]}
    refused = await visitor.post(page.url, form)

    assert (refused.status, refused.name) == (400, "error")
    assert await sessions_in(server) == {}


async def test_fields_that_the_page_does_not_have_change_nothing(visitor, demo, server):
    page = await visitor.open(demo.authorize_url())
    extra = {"proven_user_id": "x", "session_id": "y", "agent_id": "z", "flow": "f"}
    await visitor.submit(page, loginName="demo", **extra)
    (request,) = [one async for one in server.store.scan(AUTH_REQUESTS)]

    assert request.login_name == "demo"
    assert (request.proven_user_id, request.session_id) == (None, None)


def elements(page):
    return [(tag, sorted(attributes)) for tag, attributes in Seen(page).elements]


@pytest.mark.parametrize("canary", CANARIES)
async def test_what_was_typed_or_asked_never_becomes_markup(visitor, demo, server, canary):
    async def seen(value):
        asking = {"state": value, "nonce": value, "ui_locales": value, "login_hint": value}
        first = await visitor.open(demo.authorize_url(**asking))
        second = await visitor.submit(first, loginName=value)
        third = await visitor.submit(second, password=value)
        wrong = await visitor.get(demo.authorize_url(redirect_uri=value, client_id=value))
        expired = await visitor.get("/ui/login", params={"flow": "f", "start": value})
        return [first, second, third, wrong, expired]

    # A blank around a client_id is told of on the page, whatever the rest is.
    alike = "harmless" if canary == canary.strip() else " harmless"
    hostile, harmless = await seen(canary), await seen(alike)

    assert [elements(page) for page in hostile] == [elements(page) for page in harmless]
    assert all("X-Evil" not in page.headers for page in hostile)


@pytest.mark.full
@pytest.mark.parametrize("canary", CANARIES)
async def test_stored_names_never_become_markup(new_visitor, server, canary):
    found = await server.store.find(USERS, {"login_key": "demo"})

    async def seen(value):
        visitor, party = new_visitor(), await server.register(value)
        changed = {"user_name": value, "profile.display_name": value}
        await server.store.commit(Update(USERS, found.records[0].id, set=changed))
        first = await visitor.open(party.authorize_url())
        page = await visitor.submit(first, loginName="demo")
        await visitor.submit(page, password=server.user[1])
        server.clock.advance(1)
        accounts = await visitor.open(party.authorize_url(prompt="select_account"))
        step_up = await visitor.open(party.authorize_url(prompt="login"))
        logout = await visitor.open("/oidc/v1/end_session")
        start = await visitor.open(f"/ui/login?client_id={party.client_id}")
        return [first, accounts, step_up, logout, start]

    hostile, harmless = await seen(canary), await seen("harmless")

    assert [elements(page) for page in hostile] == [elements(page) for page in harmless]


@pytest.mark.promise("authorization: exact state")
@pytest.mark.parametrize(
    "state",
    [
        "a b+c%20d",
        "%00",
        "\r\nX-Evil: 1",
        "😀\u2028é",
        "x" * 2000,
        '"><svg/onload=alert(1)>',
        "\0",
    ],
)
async def test_state_comes_back_byte_by_byte(visitor, demo, server, state):
    page = await visitor.sign_in(demo.authorize_url(state=state), *server.user)

    assert page.answer["state"] == state
    assert "X-Evil" not in page.headers


POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)


@pytest.mark.promise("authorization: forwarding applications")
async def test_the_policy_of_a_sign_in_does_not_bind_what_applications_redirect_to(visitor, demo):
    page = await visitor.open(demo.authorize_url())

    assert page.headers["Content-Security-Policy"] == POLICY


@pytest.mark.parametrize("path", ["/ui/setup", "/ui/nothing"])
async def test_forms_of_a_page_that_leads_to_no_application_reach_the_service_alone(visitor, path):
    page = await visitor.get(path)

    assert page.headers["Content-Security-Policy"] == f"{POLICY}; form-action 'self'"
