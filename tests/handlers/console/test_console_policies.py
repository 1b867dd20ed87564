"""Policies in the console: what counts, whose it is, and how it is set and given back."""

from __future__ import annotations

import re

import pytest

from handlers.console.policies.policy_list import POLICIES
from idp.foundation import durations
from idp.records import POLICIES as STORED
from tests.support.management import console
from tests.support.store.stored import everything

PATH = "/ui/console/policies"
VALUES = {
    "login": {
        "allowRegister": "on",
        "passwordCheckLifetime": "7",
        "passwordCheckLifetime.unit": "d",
    },
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
    return [one for one in chips if one in ("inherited", "custom", "default")]


async def test_everything_is_inherited_at_first(server, visitor):
    page = await console.admin(server, visitor, PATH)

    branding = await visitor.open(f"{PATH}/branding")

    assert origins(page) == ["inherited"] * (len(POLICIES) - 1)
    assert origins(branding) == ["inherited"] * 6
    assert "/reset" not in page.text + branding.text


@pytest.mark.full
@pytest.mark.parametrize("name", VALUES)
async def test_a_policy_becomes_the_organization_s_own_is_changed_and_inherited_again(
    server, visitor, name
):
    await console.admin(server, visitor)
    for values in (VALUES[name], VALUES[name], {}):
        page = await visitor.submit(await visitor.get(f"{PATH}/{name}"), **values)
        assert "Saved." in page.text
        assert origins(page).count("custom") == 1
        text = [value for value in values.values() if value != "on"]
        assert all(value in page.text for value in text)
    assert len([one async for one in server.store.scan(STORED)]) == 1
    page = await visitor.submit(await visitor.get(f"{PATH}/{name}/reset"))

    # The page of branding has the origin of its colours and of five pictures.
    number = 6 if name == "label" else len(POLICIES) - 1
    assert origins(page) == ["inherited"] * number
    assert [one async for one in server.store.scan(STORED)] == []


@pytest.mark.parametrize("name", WRONG)
async def test_what_a_policy_cannot_say_comes_back_with_the_reason(server, visitor, name):
    await console.admin(server, visitor)
    before = await everything(server.store)
    page = await visitor.submit(await visitor.get(f"{PATH}/{name}"), **WRONG[name])

    assert (page.status, page.name) == (400, "console/action")
    assert f'id="{next(iter(WRONG[name]))}-problem"' in page.text
    assert await everything(server.store) == before


@pytest.mark.parametrize(
    ("number", "unit", "length", "shown"),
    [
        ("90", "s", "1m30s", "90 seconds"),
        ("90", "m", "1h30m0s", "90 minutes"),
        ("36", "h", "36h0m0s", "36 hours"),
        ("3", "d", "72h0m0s", "3 days"),
        ("0072", "h", "72h0m0s", "3 days"),
        ("1h30m", "h", "1h30m0s", "90 minutes"),
        ("", "d", "240h0m0s", "10 days"),
    ],
)
async def test_a_duration_is_entered_as_a_number_and_its_unit(
    server, visitor, number, unit, length, shown
):
    await console.admin(server, visitor)
    values = {"passwordCheckLifetime": number, "passwordCheckLifetime.unit": unit}
    page = await visitor.submit(await visitor.get(f"{PATH}/login"), **values)
    form = await visitor.get(f"{PATH}/login")

    assert stored(form) == {"number": shown.split()[0], "unit": shown.split()[1]}
    assert f">{shown}<" in re.sub(r"\s*\n\s*", "", page.text)
    assert not re.search(r"\d+h\d+m", re.sub(r"<pre.*?</pre>", "", page.text, flags=re.DOTALL))
    (policy,) = [one async for one in server.store.scan(STORED)]
    assert policy.rules.password_check_seconds == durations.parse(length).total_seconds()


def stored(form):
    """What the inputs of the first duration have."""
    field = form.text.partition('id="passwordCheckLifetime"')[2].partition("</div>")[0]
    number = re.search('value="([^"]*)"', field)[1]
    return {"number": number, "unit": re.search(r"selected>([^<]*)<", field)[1]}


async def test_a_duration_without_length_is_shown_as_never(server, visitor):
    await console.admin(server, visitor)
    form = await visitor.get(f"{PATH}/login")
    page = await visitor.submit(form, mfaInitSkipLifetime="0")

    assert "Saved." in page.text
    assert ">never<" in re.sub(r"\s*\n\s*", "", page.text)


@pytest.mark.parametrize(
    ("number", "unit"),
    [
        ("a while", "h"),
        ("-1", "h"),
        ("1.5", "d"),
        ("\u0663", "d"),
        ("1", "y"),
        ("0", "h"),
        ("59", "s"),
        ("3651", "d"),
        ("999999999", "d"),
        ("9" * 200, "d"),
    ],
)
async def test_a_number_that_is_no_possible_duration_comes_back_with_the_reason(
    server, visitor, number, unit
):
    await console.admin(server, visitor)
    before = await everything(server.store)
    values = {"passwordCheckLifetime": number, "passwordCheckLifetime.unit": unit}
    page = await visitor.submit(await visitor.get(f"{PATH}/login"), **values)

    assert page.status == 400
    assert 'id="passwordCheckLifetime-problem"' in page.text
    assert f'value="{number}"' in page.text
    assert await everything(server.store) == before


async def test_what_the_installation_states_counts_where_nothing_else_is_stated(server, visitor):
    await console.admin(server, visitor)
    form = await visitor.get(f"{PATH}/installation/lockout")
    page = await visitor.submit(form, maxPasswordAttempts="9")
    inherited = await visitor.get(PATH)

    assert origins(page).count("custom") == 1
    assert origins(inherited) == ["inherited"] * (len(POLICIES) - 1)
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
