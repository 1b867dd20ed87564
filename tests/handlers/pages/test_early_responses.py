"""What a request leaves that a page answers early: a redirect to where the person has to go first,
or a page that says why the requested one cannot be displayed."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec
import pytest

import handlers
from tests.handlers.login.form_pages import Place
from tests.handlers.pages import early_requests as requests
from tests.handlers.pages.early_requests import LOGIN, opened_at, sent_to
from tests.support.measured.logged import log_fixture  # noqa: F401 - a fixture
from tests.support.store import stored

BROWSER, LANGUAGE, PERSON = "idp_agent", "idp_language", "idp_person"
# Every answer has these, and every page those.
USUAL = {
    *("server", "date", "content-length", "content-type", "cache-control", "x-request-id"),
    *("x-content-type-options", "x-frame-options", "referrer-policy", "content-security-policy"),
    *("cross-origin-opener-policy", "set-cookie"),
}
OF_A_PAGE = {"content-language", "vary"}


class Left(NamedTuple):
    """What a request leaves: the answer's status, the page or the path of the redirect, the one
    cookie that is set, headers that few answers have, and the collections that are written."""

    status: int
    to: str
    cookie: str = ""
    changed: str = ""
    headers: frozenset[str] | set[str] = frozenset()


BY_REQUEST = {
    requests.no_flow: Left(410, "expired"),
    requests.other_browsers_flow: Left(410, "expired"),
    requests.finished_flow: Left(410, "expired"),
    requests.expired_form: Left(410, "expired"),
    requests.unbound_flow: Left(303, LOGIN, cookie=BROWSER),
    requests.no_restart_link: Left(303, LOGIN),
    requests.other_language: Left(303, LOGIN, cookie=LANGUAGE),
    requests.other_language_of_stored_flow: Left(
        303, "/ui/login/password", cookie=LANGUAGE, changed="auth_requests"
    ),
    requests.flow_that_is_answered: Left(
        303, "/demo/callback", changed="auth_requests authorizations"
    ),
    requests.flow_that_is_answered_at_the_chooser: Left(
        303, "/demo/callback", changed="auth_requests authorizations"
    ),
    requests.other_passkey_step: Left(303, LOGIN),
    requests.passkey_that_fits: Left(
        303, LOGIN, cookie=BROWSER, changed="passkeys agents sessions auth_requests replay events"
    ),
    requests.passkey_at_first_page: Left(
        303, LOGIN, cookie=BROWSER, changed="passkeys agents sessions auth_requests replay events"
    ),
    requests.new_passkey: Left(
        303,
        LOGIN,
        cookie=BROWSER,
        changed="users passkeys recovery_codes agents auth_requests replay events outbox",
    ),
    requests.recovery_code_that_does_not_fit: Left(303, LOGIN),
    requests.reset_that_has_expired: Left(303, LOGIN, changed="auth_requests"),
    requests.registration_that_is_gone: Left(303, LOGIN, changed="auth_requests"),
    requests.registration_form_that_is_gone: Left(303, LOGIN, changed="auth_requests"),
    requests.unverified_name: Left(303, "/ui/login/verify-email"),
    requests.unverified_name_form: Left(303, "/ui/login/verify-email"),
    requests.verified_code: Left(303, "/ui/login/user-name"),
    requests.register_where_it_is_closed: Left(200, "register"),
    requests.register_form_where_it_is_closed: Left(400, "register"),
    requests.register_in_one_of_two: Left(303, "/ui/login/organization"),
    requests.consent_by_nobody: Left(303, LOGIN),
    requests.factor_before_the_password_is_changed: Left(303, LOGIN),
    requests.logout_that_is_unknown: Left(410, "expired"),
    requests.logout_form_that_has_expired: Left(410, "expired"),
    requests.account_of_nobody: Left(303, LOGIN, cookie=BROWSER),
    requests.account_form_of_nobody: Left(303, "/ui/account/profile/edit"),
    requests.account_of_two: Left(303, LOGIN),
    requests.account_that_is_chosen: Left(303, "/ui/account/profile", cookie=PERSON),
    requests.account_that_another_site_chooses: Left(303, "/ui/account/profile"),
    requests.sensitive_page: Left(303, LOGIN),
    requests.sensitive_form: Left(303, LOGIN),
    requests.first_password: Left(303, LOGIN, changed="sessions"),
    requests.first_password_form: Left(303, LOGIN, changed="sessions"),
    requests.throttled_password: Left(429, "account/password", headers={"retry-after"}),
    requests.console_of_a_user: Left(403, "console/message"),
    requests.console_form_of_a_user: Left(403, "console/message"),
    requests.console_of_nobody: Left(303, LOGIN, cookie=BROWSER),
    requests.installation_page: Left(303, LOGIN),
}
AT_ANOTHER_STEP = [
    *("password", "totp-enrol", "factor-offer", "recovery-codes", "factor", "totp"),
    *("recovery-code", "passkey-enrol", "reset-code", "verify-email", "user-name"),
    *("change-password", "consent", "accounts", "not-allowed"),
]


@pytest.fixture
def place(server, visitor, demo):
    return Place(server, visitor, demo)


async def left_by(place, sent):
    before = await stored.everything(place.server.store)
    if sent.form is None:
        page = await place.visitor.get(sent.url, headers=sent.headers)
    else:
        page = await place.visitor.post(sent.url, sent.form, headers=sent.headers)
    after = await stored.everything(place.server.store)
    cookies = [one.partition("=")[0] for one in page.headers.get_list("Set-Cookie")]
    return Left(
        page.status,
        page.name or urlsplit(page.location).path,
        " ".join(cookies),
        " ".join(name for name in after if before[name] != after[name]),
        set(page.headers) - USUAL - (OF_A_PAGE if page.name else {"location"}),
    )


def failures(log):
    lines = [msgspec.json.decode(line) for line in log.getvalue().splitlines()]
    return [line for line in lines if line["level"] not in ("debug", "info")]


@pytest.mark.parametrize("request_of", BY_REQUEST)
async def test_an_early_response_leaves_this_and_no_more(place, request_of, log):
    left = await left_by(place, await request_of(place))

    assert left == BY_REQUEST[request_of]
    assert failures(log) == []


@pytest.mark.parametrize("by_form", [False, True])
@pytest.mark.parametrize("name", AT_ANOTHER_STEP)
async def test_a_page_of_another_step_leads_to_the_one_that_is_due(place, name, by_form, log):
    page = await place.visitor.open(place.party.authorize_url())
    there = f"{LOGIN}/{name}"
    left = await left_by(place, sent_to(page, there) if by_form else opened_at(page, there))

    assert left == Left(303, LOGIN)
    assert failures(log) == []


@pytest.mark.full
def test_no_handler_catches_the_end_of_an_early_response():
    """It is neither caught by its own name nor among all exceptions."""
    caught = set()
    for path in Path(handlers.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ExceptHandler):
                names = ast.walk(node.type) if node.type else [ast.Name("BaseException")]
                caught |= {name.id for name in names if isinstance(name, ast.Name)}
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress"):
                caught |= {ast.unparse(each) for each in node.args}

    assert caught.isdisjoint({"ResponseSent", "Finish", "Exception", "BaseException"})
    assert "Stale" in caught
