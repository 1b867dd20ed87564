"""Policies: an organization's own counts, else the installation's, else the built-in one."""

from __future__ import annotations

import asyncio

import pytest

from idp.foundation.colours.contrast import contrast
from idp.management.policies.policy_kinds import KINDS
from idp.records import EVENTS, POLICIES
from tests.support.management.api_samples import filled
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.samples.policies import FULL, FULL_TEXT, address
from tests.support.store.stored import everything

COMPLEXITY = address("password_complexity")
DEFAULT = address("password_complexity", "admin")
TEXT = "/management/v1/text/message/verifyemail/de"


@pytest.fixture
def manager(io_loop, server, visitor, own):
    return io_loop.run_sync(lambda: new_caller(server, visitor, own, "ORG_SETTINGS_MANAGER"))


async def min_length(caller, path=COMPLEXITY):
    found = (await caller.get(path)).json()
    return found["policy"]["minLength"], found.get("isDefault", False)


async def set_to(caller, method, length, path=COMPLEXITY, **headers):
    return await caller.request(method, path, {"minLength": length}, **headers)


async def test_what_counts_is_built_in_then_the_installation_s_then_the_organization_s_own(
    owner, manager
):
    assert await min_length(manager) == await min_length(owner, DEFAULT) == (8, True)

    assert (await set_to(owner, "PUT", 10, DEFAULT)).status == 200
    assert await min_length(owner, DEFAULT) == (10, False)
    assert await min_length(manager) == (10, True)

    assert (await set_to(manager, "POST", 12)).status == 200
    assert await min_length(manager) == (12, False)
    assert (await set_to(owner, "PUT", 9, DEFAULT)).status == 200
    assert await min_length(manager) == (12, False)

    assert (await manager.request("DELETE", COMPLEXITY, None)).status == 200
    assert await min_length(manager) == (9, True)


async def test_one_organization_s_policy_is_none_of_another_s(server, visitor, owner, manager):
    other = await new_organization(server, "other.example")
    neighbour = await new_caller(server, visitor, other, "ORG_OWNER")
    await set_to(manager, "POST", 12)

    assert await min_length(neighbour) == (8, True)
    assert refused(await set_to(neighbour, "PUT", 20), 404, 5) == {"": "policy.not_found"}
    assert refused(await neighbour.request("DELETE", COMPLEXITY, None), 404, 5)
    assert (await set_to(neighbour, "POST", 20)).status == 200
    assert await min_length(manager) == (12, False)


@pytest.mark.parametrize("name", FULL)
async def test_what_is_set_is_read_again_and_each_change_is_an_event(server, manager, name):
    sample = filled(FULL[name], n=1)
    made = (await manager.post(address(name), sample)).json()
    changed = (await manager.request("PUT", address(name), {})).json()
    reset = (await manager.request("DELETE", address(name), None)).json()
    await manager.post(address(name), sample)
    found = (await manager.get(address(name))).json()

    steps = [one["details"]["sequence"] for one in (made, changed, reset)]
    assert steps == ["1", "2", "3"]
    type = f"{name}_policy"
    events = [one.type async for one in server.store.scan(EVENTS) if one.collection == "policies"]
    assert sorted(events) == sorted(
        f"{type}.{step}" for step in ("created", "changed", "deleted", "created")
    )
    policy = {key: value for key, value in found["policy"].items() if key != "details"}
    zero = (False, "")
    assert policy == {key: value for key, value in sample.items() if value not in zero}
    assert found["details"] == found["policy"]["details"]


async def test_a_policy_is_made_once(server, manager):
    await set_to(manager, "POST", 12)
    before = await everything(server.store)

    assert refused(await set_to(manager, "POST", 13), 409, 6) == {"": "policy.exists"}
    assert await everything(server.store) == before


async def test_of_many_who_make_it_at_once_one_does(server, manager):
    pages = await asyncio.gather(*(set_to(manager, "POST", 10 + n) for n in range(8)))

    assert sorted(page.status for page in pages) == [200] + [409] * 7
    assert len([one async for one in server.store.scan(POLICIES)]) == 1


async def test_of_many_who_set_the_installation_s_at_once_each_does(owner):
    pages = await asyncio.gather(*(set_to(owner, "PUT", 10 + n, DEFAULT) for n in range(8)))

    assert {page.status for page in pages} == {200}
    assert (await owner.get(DEFAULT)).json()["details"]["sequence"] == "8"


async def test_who_has_seen_another_state_changes_nothing(server, owner, manager):
    tag = (await set_to(manager, "POST", 12)).headers["ETag"]
    await set_to(manager, "PUT", 13)
    before = await everything(server.store)

    refused(await set_to(manager, "PUT", 14, If_Match=tag), 412, 9)
    refused(await set_to(owner, "PUT", 14, DEFAULT, If_Match=tag), 412, 9)
    assert await everything(server.store) == before


async def test_who_has_seen_none_makes_the_first_and_replaces_none(server, owner):
    tag = (await owner.get(DEFAULT)).headers["ETag"]
    first = await set_to(owner, "PUT", 12, DEFAULT, If_Match=tag)
    before = await everything(server.store)

    assert (tag, first.status) == ('"0"', 200)
    refused(await set_to(owner, "PUT", 14, DEFAULT, If_Match=tag), 412, 9)
    assert await everything(server.store) == before


async def test_a_viewer_reads_policies_and_sets_none(server, visitor, own):
    viewer = await new_caller(server, visitor, own, "ORG_OWNER_VIEWER")
    before = await everything(server.store)

    assert await min_length(viewer) == (8, True)
    refused(await set_to(viewer, "POST", 12), 403, 7)
    assert await everything(server.store) == before


LONG = "https://a.example/" + "x" * 482
LIMITS = [
    ("password_complexity", "minLength", (8, 200), (7, 201), "field.out_of_range"),
    ("password_age", "maxAgeDays", (0, 3650), (-1, 3651), "field.out_of_range"),
    ("lockout", "maxPasswordAttempts", (0, 100), (-1, 101), "field.out_of_range"),
    (
        "login",
        "passwordCheckLifetime",
        ("1m0s", "87600h"),
        ("59.999s", "87600h0m1s"),
        "field.out_of_range",
    ),
    (
        "login",
        "mfaInitSkipLifetime",
        ("0s", "1m0s", "87600h"),
        ("1s", "87600h0m1s"),
        "field.out_of_range",
    ),
    ("lockout", "maxOtpAttempts", (0, 100), (-1, 101), "field.out_of_range"),
    ("lockout", "lockoutSeconds", (0, 86_400), (-1, 86_401), "field.out_of_range"),
    ("login", "allowUsernamePassword", (True,), (False,), "login_policy.only_way"),
    ("login", "ignoreUnknownUsernames", (True,), (False,), "login_policy.unknown_names"),
    (
        "login",
        "defaultRedirectUri",
        ("", "https://a.example/x"),
        ("http://a.example/", "javascript:alert(1)", "https://a.example/{{.Lang}}", "https://"),
        "link.invalid",
    ),
    (
        "privacy",
        "tosLink",
        ("", "https://a.example/{{.Lang}}/tos", "https://a.example/?l={{ .Lang }}"),
        ("http://a.example/", "javascript:x", "https://{{.Lang}}.example/", "https://a@b.example/")
        + ("https://a.example/{{.User}}", 'https://a.example/"><b>', "//a.example/", " "),
        "link.invalid",
    ),
    ("privacy", "helpLink", (LONG,), (LONG + "x",), "field.too_long"),
    ("privacy", "supportEmail", ("", "a@b.example"), ("a@", "b"), "email.invalid"),
    ("label", "primaryColor", ("", "#2B4FC7"), ("#fff", "red", "#12345g"), "colour.invalid"),
    ("label", "radius", (0, 24), (-1, 25), "field.out_of_range"),
    ("label", "layout", ("split", "plain", "card"), ("", "wide"), "field.unknown_name"),
    ("label", "font", ("mono", "system"), ("", "Comic Sans"), "field.unknown_name"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "field", "good", "bad", "error_code"), LIMITS)
async def test_a_limit_holds_at_both_edges(server, owner, name, field, good, bad, error_code):
    path = address(name, "admin")
    for value in good:
        page = await owner.request("PUT", path, {field: value})
        assert page.status == 200, page.text
    before = await everything(server.store)

    for value in bad:
        page = await owner.request("PUT", path, {field: value})
        assert refused(page, 400, 3) == {field: error_code}, value
    assert await everything(server.store) == before


@pytest.mark.parametrize(
    ("colours", "adjusted"),
    [
        ({"primaryColor": "#6b6b6b"}, []),
        ({"primaryColor": "#777777"}, ["primaryColor"]),
        ({"primaryColorDark": "#2b4fc7"}, ["primaryColorDark"]),
        ({"fontColor": "#eeeeee", "warnColor": "#ffdddd"}, ["fontColor", "warnColor"]),
        ({"fontColor": "#ffffff", "backgroundColor": "#1a1a1a", "primaryColor": "#9db8ff"}
         | {"warnColor": "#ffb0a6"}, []),
    ],
)  # fmt: skip
async def test_a_colour_that_is_hard_to_read_is_stored_and_displayed_otherwise(
    owner, colours, adjusted
):
    page = await owner.request("PUT", address("label", "admin"), colours)
    policy = (await owner.get(address("label", "admin"))).json()["policy"]
    effective = policy.get("effective", {})

    assert page.status == 200
    assert policy.items() >= colours.items()
    assert sorted(effective) == sorted(adjusted)
    for name, value in effective.items():
        ground = colours.get("backgroundColor") or ("#161a22" if "Dark" in name else "#ffffff")
        assert contrast(value, ground) >= 4.5


async def test_an_answer_with_a_radius_of_zero_can_be_sent_back(owner):
    await owner.request("PUT", address("label", "admin"), {"radius": 0, "layout": "plain"})
    policy = (await owner.get(address("label", "admin"))).json()["policy"]

    assert (policy["radius"], policy["layout"], policy["font"]) == (0, "plain", "system")


async def test_the_words_of_a_message_are_stored_for_each_language(manager, owner):
    assert (await manager.request("PUT", TEXT, FULL_TEXT)).status == 200
    german = (await manager.get(TEXT)).json()
    arabic = (await manager.get(TEXT.replace("/de", "/ar"))).json()

    assert german["customText"].items() >= FULL_TEXT.items()
    assert "isDefault" not in german
    assert arabic["isDefault"]
    assert set(arabic["customText"]) == {"details", "type", "language"}
    assert (await manager.request("DELETE", TEXT, None)).status == 200
    assert refused(await manager.request("DELETE", TEXT, None), 404, 5)


@pytest.mark.parametrize(
    "words", ["{{.Code}}", "{{.UserName}}", "{{", "}}", "{{.Host", "{{Host}}", "{{.Host}} {{}}"]
)
async def test_words_name_nothing_that_the_message_can_not_fill(server, manager, words):
    before = await everything(server.store)
    page = await manager.request("PUT", TEXT, {"text": words})

    assert refused(page, 400, 3) == {"text": "text.placeholder"}
    assert await everything(server.store) == before


@pytest.mark.parametrize("path", ["nothing/de", "verifyemail/xx", "verifyemail/DE", "init/de"])
async def test_unknown_messages_and_languages_are_404(owner, path):
    for base in ("admin", "management"):
        page = await owner.get(f"/{base}/v1/text/message/{path}")
        assert refused(page, 404, 5)


def test_every_kind_has_a_sample():
    assert set(FULL) == set(KINDS)
