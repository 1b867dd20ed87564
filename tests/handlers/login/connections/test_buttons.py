"""The buttons of other providers on the first page: their place, their number and their icons."""

from __future__ import annotations

import re

import pytest

from handlers.pages.rendering import icon
from idp.records.policies import POLICIES

OKTA = {"preset": "okta", "domain": "corp.okta.com"}


async def put_first(federation, is_first):
    policy = {"providersFirst": is_first}
    await federation.connecting.call("POST", "/policies/login", policy)
    federation.server.clock.advance(10)


async def offer(federation, kind, name, **settings):
    body = {"name": name, "clientId": "c", "clientSecret": "s", **settings}
    connection = await federation.connecting.make(kind, body)
    await federation.connecting.call("POST", "/policies/login/idps", {"idpId": connection})
    return connection


@pytest.mark.parametrize("is_first", [None, False, True])
async def test_the_policy_puts_the_providers_above_the_login_name(federation, is_first):
    if is_first is not None:
        await put_first(federation, is_first)
    page = await federation.begin()
    providers, step = page.text.index('<form id="providers"'), page.text.index('<form id="step"')

    assert (providers < step) == bool(is_first)
    assert page.text.count('value="cancel"') == 1
    assert page.text.index('value="cancel"') > step


async def test_from_above_the_login_name_a_button_leads_to_the_provider(federation, provider):
    await put_first(federation, True)
    page = await federation.begin()
    left = await federation.leave(page)

    assert left.status == 303
    assert left.location.startswith(provider.issuer)


async def test_four_are_shown_at_once_in_either_place(federation):
    for n in range(5):
        await offer(federation, "google", f"Google {n}")
    for is_first in (False, True):
        if is_first:
            await put_first(federation, True)
        form = (await federation.begin()).text.partition('<form id="providers"')[2]
        form = form.partition("</form>")[0]
        before, more, after = form.partition("<details>")

        assert [before.count('name="idp"'), after.count('name="idp"')] == [4, 2]
        assert more


async def test_a_button_shows_the_mark_of_its_provider(federation):
    await offer(federation, "google", "Google")
    await offer(federation, "gitlab", "GitLab")
    await offer(federation, "generic_oidc", "Okta", **OKTA)
    text = (await federation.begin()).text
    buttons = re.findall(r'<button name="idp"[^>]*>(<svg.*?</svg>).*?<bdi>([^<]*)', text)

    assert {name: drawing for drawing, name in buttons} == {
        "Corp": icon("building-2"),
        "Google": icon("brand-google"),
        "GitLab": icon("brand-gitlab"),
        "Okta": icon("brand-okta"),
    }


async def test_an_older_policy_leaves_the_providers_below(server, federation):
    await put_first(federation, True)
    (policy,) = (await server.store.find(POLICIES)).records

    assert policy.rules.providers_first
    assert type(policy.rules)().providers_first is False
