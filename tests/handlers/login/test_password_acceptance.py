"""Which new passwords are accepted: on pages by the profile's defaults and the policies, over the
API by the policies alone, and nowhere when they are common or breached."""

from __future__ import annotations

import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from msgspec import structs

from idp.passwords import range_service
from idp.passwords.breached import BreachedPasswords
from idp.records import USERS
from storage import Update
from tests.support import patience
from tests.support.management.callers import refused
from tests.support.samples.policies import address
from tests.support.sign_in.factors import code, codes_of, secret_of, set_rules, user_of
from tests.support.sign_in.people import PATH, create, person
from tests.support.sign_in.registering import at_code, at_register
from tests.support.sign_in.resetting import at_reset_code, give_address
from tests.support.sign_in.resetting import newest as newest_reset
from tests.support.sign_in.steps import text_of
from tests.support.store.stored import everything
from tests.support.transfer.breached_lists import sha1, text_file

APP = "/ui/account/authenticator"
GOOD = "four green kettles hum"
SHORT = "green kettles"  # 13 characters: enough only with a second factor
EASY = "Willkommen2026!"
COMPLEXITY = address("password_complexity")
DEFAULT = address("password_complexity", "admin")


@pytest.fixture
def settings() -> dict:
    return {"profile": "public", "self_registration": True}


async def changed(visitor, server, new: str, old: str | None = None):
    """The answer to a change of the demo user's password on their account page."""
    page = await visitor.open("/ui/account/password")
    if page.name == "login-name":
        page = await visitor.submit(page, loginName=server.user[0])
        page = await visitor.submit(page, password=old or server.user[1])
    return await visitor.submit(page, currentPassword=old or server.user[1], newPassword=new)


@pytest.mark.full
@pytest.mark.promise("passwords: length")
@pytest.mark.parametrize(
    ("password", "reason"),
    [
        (SHORT, "Use at least 15 characters."),
        (EASY, "This password is easy to guess"),
        ("demo demo demo demo", "your own name"),
    ],
)
async def test_each_page_refuses_what_the_profile_does_not_accept(
    server, visitor, new_visitor, demo, password, reason
):
    await give_address(server)
    account = await changed(visitor, server, password)
    browser = new_visitor()
    page = await at_register(browser, demo)
    fields = {"givenName": "Demo", "familyName": "Demo", "email": "d@example.org"}
    registration = await browser.submit(page, **fields, userName="", newPassword=password)
    browser = new_visitor()
    page = await at_reset_code(browser, demo)
    page = await browser.submit(page, code=(await newest_reset(browser))["code"])
    reset = await browser.submit(page, newPassword=password)
    admin = server.start.admin
    browser = new_visitor()
    page = await browser.sign_in(demo.authorize_url(), admin.login_name, admin.password)
    forced = await browser.submit(page, newPassword=password.replace("demo", "localhost"))

    for page in (account, registration, reset, forced):
        assert page.status == 400, page.text
        assert reason in text_of(page)


async def test_pages_accept_a_phrase_of_unrelated_words(server, visitor, new_visitor, demo):
    page = await changed(visitor, server, GOOD)

    assert "code" in (await at_code(new_visitor(), demo, newPassword=GOOD)).inputs
    assert page.status == 200
    assert (await user_of(server)).password.is_long is True


async def test_over_the_api_length_and_strength_of_the_settings_are_not_asked(server, owner):
    made = await owner.post("/v2/users/human", person(password={"password": EASY}))
    common = await owner.post(
        "/v2/users/human", person(username="other", password={"password": "password1234"})
    )

    assert made.status == 200, made.text
    assert refused(common, 400, 3) == {"password.password": "password.common"}


async def test_over_the_api_the_strength_of_a_stored_policy_is_asked(server, owner):
    await owner.request("PUT", DEFAULT, {"minStrength": 3})
    before = await everything(server.store)

    page = await owner.post("/v2/users/human", person(password={"password": EASY}))

    assert refused(page, 400, 3) == {"password.password": "password.too_easy"}
    assert await everything(server.store) == before


@pytest.mark.promise("passwords: policies")
async def test_an_organization_only_tightens_strength_and_the_length_with_a_factor(owner):
    async def own(**rules):
        await owner.request("DELETE", COMPLEXITY, None)
        assert (await owner.post(COMPLEXITY, rules)).status == 200
        policy = (await owner.get(COMPLEXITY)).json()["policy"]
        return policy.get("minStrength", 0), policy["minLengthWithFactor"]

    await owner.request(
        "PUT", DEFAULT, {"minLength": 15, "minLengthWithFactor": 10, "minStrength": 2}
    )

    assert await own(minLength=20) == (2, 20)
    assert await own(minLength=20, minStrength=1, minLengthWithFactor=8) == (2, 10)
    assert await own(minLength=20, minStrength=4, minLengthWithFactor=12) == (4, 12)


@pytest.mark.promise("passwords: policies")
async def test_an_organization_s_own_length_and_characters_are_instead_of_the_installation_s(
    owner,
):
    """As in the reference system, where a policy of the organization replaces the other."""
    strict = {"minLength": 20, "hasNumber": True, "minLengthWithFactor": 12, "minStrength": 2}
    await owner.request("PUT", DEFAULT, strict)
    assert (await owner.post(COMPLEXITY, {"minLength": 14, "hasSymbol": True})).status == 200
    policy = (await owner.get(COMPLEXITY)).json()["policy"]
    short = await owner.post(PATH, person(password={"password": "lamp! kettle"}))
    enough = await owner.post(PATH, person(password={"password": "lamp! kettle wolf"}))

    assert (policy["minLength"], policy.get("hasNumber", False)) == (14, False)
    assert (policy["hasSymbol"], policy["minLengthWithFactor"]) == (True, 14)
    assert policy["minStrength"] == 2
    assert refused(short, 400, 3) == {"password.password": "password.too_short"}
    assert enough.status == 200


@pytest.mark.parametrize(
    ("rules", "error_code"),
    [
        ({"minStrength": 5}, "field.out_of_range"),
        ({"minStrength": -1}, "field.out_of_range"),
        ({"minStrength": "strong"}, "field.wrong_type"),
        ({"minLengthWithFactor": 7}, "field.out_of_range"),
        ({"minLengthWithFactor": 201}, "field.out_of_range"),
    ],
)
async def test_a_policy_out_of_range_is_refused_and_nothing_is_stored(
    server, owner, rules, error_code
):
    before = await everything(server.store)

    page = await owner.request("PUT", DEFAULT, rules)

    assert refused(page, 400, 3) == {next(iter(rules)): error_code}
    assert await everything(server.store) == before


async def with_app(server, visitor):
    """The demo user has an authenticator app and then a password that is short without it."""
    page = await visitor.open(f"{APP}/new")
    if page.name == "login-name":
        page = await visitor.submit(page, loginName=server.user[0])
        page = await visitor.submit(page, password=server.user[1])
    page = await visitor.submit(page, code=code(server.clock, secret_of(page)))
    assert codes_of(page)
    await visitor.submit(page)
    page = await changed(visitor, server, SHORT)
    assert page.status == 200, page.text
    assert (await user_of(server)).password.is_long is False


@pytest.mark.promise("passwords: length")
async def test_with_a_second_factor_a_shorter_password_is_accepted_and_a_longer_one_without(
    server, visitor, new_visitor, demo
):
    await with_app(server, visitor)
    page = await visitor.open(f"{APP}/remove")
    before = await everything(server.store)

    without = await visitor.submit(page)
    short = await visitor.submit(page, newPassword="kettles hum")
    assert await everything(server.store) == before
    done = await visitor.submit(page, newPassword=GOOD)

    assert "newPassword" in page.inputs
    assert "too short without a second factor" in text_of(without)
    assert "Use at least 15 characters." in text_of(short)
    assert done.status == 200
    user = await user_of(server)
    assert (user.totp, user.password.is_long) == (None, True)
    assert "code" in (await new_visitor().sign_in(demo.authorize_url(), "demo", GOOD)).answer
    assert "code" in await demo.silently(visitor)


async def test_an_app_is_removed_without_a_new_password_where_the_old_one_is_long(server, visitor):
    await with_app(server, visitor)
    user = await user_of(server)
    known = structs.replace(user.password, is_long=None)
    await server.store.commit(Update(USERS, user.id, set={"password": known}))
    page = await visitor.open(f"{APP}/remove")

    await visitor.submit(page)

    assert page.inputs == {}
    assert (await user_of(server)).totp is None


async def test_where_a_second_factor_is_forced_registration_accepts_a_shorter_password(
    server, visitor, demo
):
    await set_rules(server, allow_register=True, force_mfa=True)

    assert (await at_code(visitor, demo, newPassword="green kettles hum")).name == "verify-email"


@pytest.mark.full
@pytest.mark.promise("passwords: breached")
async def test_a_breached_password_is_refused_wherever_one_is_set_and_signs_in_all_the_same(
    server, visitor, new_visitor, demo, owner, tmp_path
):
    listed = BreachedPasswords(text_file(tmp_path / "list.txt", {GOOD: 3, server.user[1]: 9}))
    server.app.service = replace(server.service, breached_passwords=listed)
    made = await create(owner, username="mini", password={"password": "a lamp in the attic"})
    before = await everything(server.store)

    by_api = await owner.post("/v2/users/human", person(password={"password": GOOD}))
    set_anew = await owner.post(
        f"/v2/users/{made['userId']}/password", {"newPassword": {"password": GOOD}}
    )
    assert await everything(server.store) == before
    on_a_page = await changed(visitor, server, GOOD)
    signed_in = await new_visitor().sign_in(demo.authorize_url(), *server.user)

    assert refused(by_api, 400, 3) == {"password.password": "password.breached"}
    assert refused(set_anew, 400, 3) == {"newPassword.password": "password.breached"}
    assert "data breach" in text_of(on_a_page)
    assert "code" in signed_in.answer


async def test_a_list_that_can_not_be_read_any_more_refuses_nothing(server, visitor, tmp_path):
    class Broken:
        def contains(self, password: str) -> bool:
            raise OSError("Input/output error")

    server.app.service = replace(server.service, breached_passwords=Broken())

    assert (await changed(visitor, server, GOOD)).status == 200


class Ranges:
    """A range service: `answer` makes the body of each answer."""

    def __init__(self, answer) -> None:
        self.paths, self.paddings = [], []
        ranges = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                ranges.paths.append(self.path)
                ranges.paddings.append(self.headers.get("Add-Padding"))
                answer(self)

            def log_message(self, *args):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.ended = threading.Event()
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_port}/range"

    def close(self) -> None:
        """Answer what waits, and end every thread."""
        self.http.ended.set()
        self.http.shutdown()
        self.http.server_close()


def lines(*rows: str):
    def answer(request):
        request.send_response(200)
        request.end_headers()
        request.wfile.write("\r\n".join(rows).encode())

    return answer


def redirect(request):
    request.send_response(302)
    request.send_header("Location", "/elsewhere")
    request.end_headers()


def silence(request):
    request.server.ended.wait(patience.SECONDS)


@pytest.fixture
def ask(server):
    started = []

    def using(answer):
        started.append(Ranges(answer))
        config = structs.replace(server.service.config, breached_passwords_url=started[-1].url)
        server.app.service = replace(server.service, config=config)
        return started[-1]

    yield using
    for one in started:
        one.close()


@pytest.mark.promise("passwords: breached")
async def test_a_range_service_gets_five_digits_and_refuses_what_it_knows(server, visitor, ask):
    found = sha1(GOOD)
    ranges = ask(lines("0" * 35 + ":0", f"{found[5:]}:12", "F" * 35 + ":3"))

    page = await changed(visitor, server, GOOD)

    assert "data breach" in text_of(page)
    assert (ranges.paths, ranges.paddings) == ([f"/range/{found[:5]}"], ["true"])


@pytest.mark.full
@pytest.mark.parametrize(
    "answer",
    [lines("0" * 35 + ":9"), lines(f"{sha1(GOOD)[5:]}:0"), lines("<html>"), redirect, silence],
)
async def test_a_range_service_that_knows_nothing_or_fails_keeps_nobody_away(
    server, visitor, ask, answer, monkeypatch
):
    if answer is silence:
        monkeypatch.setattr(range_service, "SECONDS", 0.1)
    ranges = ask(answer)

    page = await changed(visitor, server, GOOD)

    assert page.status == 200
    assert len(ranges.paths) == 1


async def test_a_range_service_that_is_away_keeps_nobody_away(server, visitor, ask):
    ask(lines()).close()

    assert (await changed(visitor, server, GOOD)).status == 200
