"""Whose pages a sign-in shows: of a reserved scope, of the login hint, else of the client."""

from __future__ import annotations

import pytest

from idp.policies import effective
from idp.records import AUTH_REQUESTS, POLICIES, LabelRules, Policy, PrivacyRules
from storage import Insert
from tests.support.management.callers import new_organization
from tests.support.sign_in.steps import Seen, text_of
from tests.support.store.stored import only

SCOPE = "openid urn:idp:iam:org:{}"


@pytest.fixture
def other(io_loop, server, demo):
    """An organization that isn't the demo's, with a link of its own on its pages."""
    return io_loop.run_sync(lambda: branded(server, "other.example"))


async def branded(server, domain):
    organization = await new_organization(server, domain)
    now = server.clock.now()
    policy = Policy(
        id=effective.policy_id(organization.id, "privacy"),
        org_id=organization.id,
        kind="privacy",
        rules=PrivacyRules(help_link=f"https://{domain}/help"),
        created_at=now,
        changed_at=now,
    )
    await server.store.commit(Insert(POLICIES, policy))
    return organization


def is_theirs(page, domain="other.example"):
    return f"https://{domain}/help" in Seen(page).links


async def test_pages_are_those_of_the_organization_that_a_scope_names(visitor, demo, other):
    for named in (
        f"id:{other.id}",
        "domain:primary:other.example",
        "domain:primary:OTHER.example",
    ):
        assert is_theirs(await visitor.open(demo.authorize_url(scope=SCOPE.format(named)))), named
    for named in ("id:nobody", "domain:primary:nobody.example"):
        assert not is_theirs(await visitor.open(demo.authorize_url(scope=SCOPE.format(named))))


@pytest.mark.promise("authorization: login_hint")
async def test_pages_are_those_of_the_login_hint_s_domain(visitor, demo, other):
    for hint in ("somebody@other.example", "a@b@OTHER.example"):
        assert is_theirs(await visitor.open(demo.authorize_url(login_hint=hint))), hint
    for hint in (
        "other.example",
        "somebody@nobody.example",
        "a@" + "x" * 300,
        "@",
        "a@\u200bother",
    ):
        assert not is_theirs(await visitor.open(demo.authorize_url(login_hint=hint))), hint


async def test_a_scope_comes_before_a_hint(server, visitor, demo, other):
    await branded(server, "third.example")
    scope = SCOPE.format(f"id:{other.id}")
    page = await visitor.open(demo.authorize_url(scope=scope, login_hint="x@third.example"))

    assert (is_theirs(page), is_theirs(page, "third.example")) == (True, False)


async def test_a_scope_that_names_nobody_leaves_the_hint_without_a_say(visitor, demo, other):
    scope = SCOPE.format("id:nobody")
    page = await visitor.open(demo.authorize_url(scope=scope, login_hint="x@other.example"))

    assert not is_theirs(page)
    assert "to a username" not in page.text


async def test_it_stays_from_page_to_page_and_when_the_sign_in_is_gone(
    server, visitor, new_visitor, demo, other
):
    page = await visitor.open(demo.authorize_url(login_hint="somebody@other.example"))
    register = await visitor.open(next(url for url in Seen(page).links if "/register" in url))
    password = await visitor.submit(page, loginName="somebody@other.example")
    gone = await new_visitor().open(password.url)
    kept = await only(server.store, AUTH_REQUESTS)

    assert (password.name, gone.name) == ("password", "expired")
    assert all(is_theirs(one) for one in (register, password, gone))
    assert kept.brand_org_id == other.id


async def test_a_bare_name_gets_the_domain_where_one_organization_is_asked_for(
    visitor, demo, other
):
    scope = SCOPE.format(f"id:{other.id}")
    page = await visitor.open(demo.authorize_url(scope=scope))
    bare = await visitor.submit(page, loginName="minnie")
    whole = await visitor.submit(page, loginName="minnie@third.example")
    hinted = await visitor.open(demo.authorize_url(login_hint="x@other.example"))

    assert "We add @other.example to a username." in text_of(page)
    assert bare.inputs["loginName"] == "minnie@other.example"
    assert whole.inputs["loginName"] == "minnie@third.example"
    assert "to a username" not in hinted.text


async def test_an_organization_may_hide_its_domain(server, visitor, demo, other):
    now = server.clock.now()
    rules = LabelRules(hide_login_name_suffix=True)
    id = effective.policy_id(other.id, "label")
    label = Policy(
        id=id, org_id=other.id, kind="label", rules=rules, created_at=now, changed_at=now
    )
    await server.store.commit(Insert(POLICIES, label))
    page = await visitor.open(demo.authorize_url(scope=SCOPE.format(f"id:{other.id}")))
    bare = await visitor.submit(page, loginName="minnie")

    assert "@other.example" not in page.text
    assert bare.inputs["loginName"] == "minnie"
