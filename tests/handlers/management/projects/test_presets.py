"""Presets: every one registers as it is, says why, and comes with a configuration that fits."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import pytest

from idp.clients import presets
from idp.foundation import base64url
from idp.foundation.errors import InvalidArgument
from idp.management.projects.oidc_request import OidcSettings
from idp.records import INSTANCE_ID, INSTANCES
from idp.schema.reading import declared
from tests.support.management.callers import refused
from tests.support.protocol.relying_party import RelyingParty

PROJECTS = "/management/v1/projects"
PRESETS = "/management/v1/presets"
ISSUER = "https://id.example"
USUAL = {field.wire_name: getattr(OidcSettings(), field.name) for field in declared(OidcSettings)}

every_preset = pytest.mark.parametrize("name", presets.all_presets())


async def registered(owner, name, host="app.example"):
    """What is answered to whoever registers exactly what the preset says."""
    project = (await owner.post(PROJECTS, {"name": f"For {name}"})).json()["id"]
    kind = "api" if presets.find(name).kind == "api" else "oidc"
    body = presets.expand(name, host) | {"name": presets.find(name).title}
    page = await owner.post(f"{PROJECTS}/{project}/apps/{kind}", body)
    assert page.status == 200, page.text
    return project, page.json()


@pytest.mark.full
async def test_every_preset_registers_and_has_nothing_that_standards_mind(owner):
    found = {}
    for name in presets.all_presets():
        for host in ("app.example", "localhost:3000", "https://app.example/sub"):
            found[name, host] = (await registered(owner, name, host))[1]

    assert {key: made for key, made in found.items() if made.get("noneCompliant")} == {}
    with_secret = {name for (name, _), made in found.items() if made.get("clientSecret")}
    assert with_secret == {name for name, one in presets.all_presets().items() if one.has_secret}


@every_preset
def test_a_preset_gives_a_reason_for_each_setting_that_is_not_the_usual_one(name):
    preset = presets.find(name)
    addresses = {"appType", "redirectUris", "postLogoutRedirectUris", "backChannelLogoutUri"}
    usual = addresses | {"requirePkce"}  # by what the tool sends
    unusual = {
        field
        for field, value in presets.expand(name, "app.example").items()
        if field not in usual and value != USUAL[field]
    }

    assert unusual == set(preset.chosen)
    assert all(choice.reason.msgid.endswith(".") for choice in preset.chosen.values())


@every_preset
def test_a_configuration_names_issuer_client_and_the_place_of_the_secret(name):
    preset = presets.find(name)
    text = presets.configuration(name, ISSUER, "the-client", "app.example")

    assert ISSUER in text
    assert "the-client" in text
    assert ("CLIENT_SECRET" in text) == preset.has_secret
    assert not re.search(r"<[a-z_]+>", text)


def test_a_tool_on_this_machine_is_reached_by_http_and_any_other_by_https():
    uris = {
        host: presets.expand("grafana", host)["redirectUris"][0]
        for host in ("grafana.example", "localhost:3000", "[::1]:3000", "http://wiki/grafana/")
    }

    assert uris == {
        "grafana.example": "https://grafana.example/login/generic_oauth",
        "localhost:3000": "http://localhost:3000/login/generic_oauth",
        "[::1]:3000": "http://[::1]:3000/login/generic_oauth",
        "http://wiki/grafana/": "http://wiki/grafana/login/generic_oauth",
    }


def test_an_app_has_a_scheme_that_is_its_host_name_backwards():
    assert presets.expand("native", "mail.shop.example")["redirectUris"] == [
        "example.shop.mail:/oauth2redirect"
    ]


@pytest.mark.parametrize(
    "host",
    [
        "",
        " ",
        "a b",
        "app.example\nclient_id = other",
        "javascript://x",
        "[",
        "[x]",
        "a'b",
        "ä",
        "*",
    ],
)
def test_what_is_no_host_is_refused(host):
    with pytest.raises(InvalidArgument) as refusal:
        presets.expand("grafana", host)
    assert [problem.error_code for problem in refusal.value.details] == ["preset.host"]
    with pytest.raises(InvalidArgument):
        presets.configuration("grafana", ISSUER, "client", host)


async def test_the_presets_are_listed_and_read(owner):
    listed = (await owner.get(PRESETS)).json()
    shown = [(await owner.get(f"{PRESETS}/{one['name']}")).json() for one in listed["result"]]

    assert listed["details"]["totalResult"] == str(len(presets.all_presets()))
    assert [one["name"] for one in listed["result"]] == list(presets.all_presets())
    for one, preset in zip(shown, listed["result"], strict=True):
        expected = presets.expand(preset["name"], "app.example")
        told = {name: value for name, value in expected.items() if value}
        assert one["preset"] == preset
        assert one.get("settings", {}) == told
        assert one["configuration"]


async def test_a_preset_that_does_not_exist_is_404(owner):
    assert refused(await owner.get(f"{PRESETS}/word-press"), 404, 5) == {"": "preset.not_found"}


async def signed_in(server, new_visitor, owner, name):
    """The claims and tokens that the tool gets of a person with one role of its project."""
    project, made = await registered(owner, name)
    role = {"roleKey": "admin", "displayName": "Administrators"}
    await owner.post(f"{PROJECTS}/{project}/roles", role)
    instance = await server.store.get(INSTANCES, INSTANCE_ID)
    grants = f"/management/v1/users/{instance.demo.user_id}/grants"
    await owner.post(grants, {"projectId": project, "roleKeys": ["admin"]})
    settings, secret = presets.expand(name, "app.example"), made.get("clientSecret")
    uri = settings["redirectUris"][0]
    party = RelyingParty(server.issuer, made["clientId"], secret, uri)
    browser = new_visitor()
    page = await browser.sign_in(party.authorize_url(), *server.user)
    is_post = settings.get("authMethodType") == "OIDC_AUTH_METHOD_TYPE_POST"
    proof = {"client_id": party.client_id, "client_secret": secret} if is_post else {}
    headers = {} if is_post else None
    answer = await party.redeem(browser, page.answer["code"], headers, **proof)
    assert answer.status == 200, answer.text
    return settings, answer.json()


@pytest.mark.parametrize(
    "name", ["flask", "django", "grafana", "nextcloud", "oauth2-proxy", "spa", "kubernetes", "cli"]
)
async def test_a_tool_with_its_preset_gets_what_it_reads(server, owner, new_visitor, name):
    settings, tokens = await signed_in(server, new_visitor, owner, name)
    claims = json.loads(base64url.decode(tokens["id_token"].split(".")[1]))

    assert ("email" in claims) == settings.get("idTokenUserinfoAssertion", False)
    assert claims.get("groups") == (["admin"] if settings.get("groupsClaim") else None)
    refreshes = "OIDC_GRANT_TYPE_REFRESH_TOKEN" in settings.get("grantTypes", [])
    assert ("refresh_token" in tokens) == refreshes


def test_the_documentation_names_every_preset():
    told = (Path(__file__).parents[4] / "docs" / "reference" / "management.md").read_text(
        encoding="utf-8"
    )
    section = told.partition("### Presets")[2].partition("###")[0]

    assert set(presets.all_presets()) <= set(re.findall(r"`([a-z0-9-]+)`", section))


OF_FRAMEWORKS = ("flask", "django", "express", "node", "nextjs", "spring", "aspnet")
VARIABLE = re.compile(
    r"""environ\["(\w+)"\]|process\.env\.(\w+)|\$\{([A-Z_]+)\}|Configuration\["(\w+)"\]"""
)


@pytest.mark.promise("security: programs")
@pytest.mark.parametrize("name", OF_FRAMEWORKS)
def test_a_program_says_at_its_top_its_file_what_to_install_and_its_variables(name):
    lines = presets.configuration(name, ISSUER, "the-client", "app.example").splitlines()
    comments = [*itertools.takewhile(lambda line: line.startswith(("#", "//")), lines)]
    head, body = "\n".join(comments), "\n".join(lines[len(comments) :])
    variables = {found for match in VARIABLE.findall(body) for found in match if found}
    if name == "nextjs":  # Auth.js reads this one by itself
        variables.add("AUTH_SECRET")

    assert lines[0].lstrip("#/ ").startswith(presets.find(name).file.split(", ")[0])
    assert re.search(r"\b(pip install|npm install|dotnet add|dependencies)\b", head)
    assert "CLIENT_SECRET" in variables
    assert variables == set(re.findall(r"[A-Z]+_[A-Z]+", head))
