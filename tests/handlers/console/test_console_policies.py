"""Policies in the console: what counts, whose it is, and how it is set and given back."""

from __future__ import annotations

import re

import pytest

from handlers.console.policies.policy_list import POLICIES
from idp.records import POLICIES as STORED
from tests.support import console
from tests.support.stored import everything

PATH = "/ui/console/policies"
VALUES = {
    "login": {"allowRegister": "on", "passwordCheckLifetime": "48h"},
    "password-complexity": {"minLength": "12", "hasNumber": "on"},
    "password-age": {"maxAgeDays": "365"},
    "lockout": {"maxPasswordAttempts": "7"},
    "label": {"primaryColor": "#1a237e"},
    "privacy": {"tosLink": "https://acme.example/terms", "supportEmail": "help@acme.example"},
    "language": {"defaultLanguage": "de", "allowedLanguages": "de"},
}
WRONG = {
    "login": {"passwordCheckLifetime": "a while"},
    "password-complexity": {"minLength": "7"},
    "password-age": {"maxAgeDays": "-1"},
    "lockout": {"maxPasswordAttempts": "many"},
    "label": {"primaryColor": "blue"},
    "privacy": {"tosLink": "http://acme.example/terms"},
    "language": {"defaultLanguage": "xx"},
}


def origins(page):
    """Whose each policy is, as the chips say."""
    chips = re.findall(r'class="chip"[^>]*>([^<]*)<', page.text)
    return [one for one in chips if one in ("inherited", "its own", "built in")]


async def test_everything_is_inherited_at_first(server, visitor):
    page = await console.admin(server, visitor, PATH)

    assert origins(page) == ["inherited"] * len(POLICIES)
    assert "reset" not in page.text


@pytest.mark.parametrize("name", VALUES)
async def test_a_policy_becomes_the_organization_s_own_is_changed_and_inherited_again(
    server, visitor, name
):
    await console.admin(server, visitor)
    for values in (VALUES[name], VALUES[name], {}):
        page = await visitor.submit(await visitor.get(f"{PATH}/{name}"), **values)
        assert "Saved." in page.text
        assert origins(page).count("its own") == 1
        text = [value for value in values.values() if value != "on"]
        assert all(value in page.text for value in text)
    assert len([one async for one in server.store.scan(STORED)]) == 1
    page = await visitor.submit(await visitor.get(f"{PATH}/{name}/reset"))

    assert origins(page) == ["inherited"] * len(POLICIES)
    assert [one async for one in server.store.scan(STORED)] == []


@pytest.mark.parametrize("name", WRONG)
async def test_what_a_policy_cannot_say_comes_back_with_the_reason(server, visitor, name):
    await console.admin(server, visitor)
    before = await everything(server.store)
    page = await visitor.submit(await visitor.get(f"{PATH}/{name}"), **WRONG[name])

    assert (page.status, page.name) == (400, "console/action")
    assert f'id="{next(iter(WRONG[name]))}-problem"' in page.text
    assert await everything(server.store) == before


async def test_what_the_installation_states_counts_where_nothing_else_is_stated(server, visitor):
    await console.admin(server, visitor)
    form = await visitor.get(f"{PATH}/installation/lockout")
    page = await visitor.submit(form, maxPasswordAttempts="9")
    inherited = await visitor.get(PATH)

    assert origins(page).count("its own") == 1
    assert origins(inherited) == ["inherited"] * len(POLICIES)
    assert ">9<" in inherited.text


async def test_the_installation_s_policies_are_its_owners_alone(server, visitor):
    await console.manager(server, visitor, "ORG_OWNER")
    before = await everything(server.store)
    own = await visitor.get(PATH)
    pages = [
        await visitor.get(f"{PATH}/installation"),
        await visitor.get(f"{PATH}/installation/login"),
        await visitor.post(f"{PATH}/installation/login", {"token": "x"}),
    ]

    assert own.status == 200
    assert "installation" not in own.text
    assert [page.status for page in pages] == [403] * 3
    assert await everything(server.store) == before
