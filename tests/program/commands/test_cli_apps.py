"""Commands with a will of their own: for applications, and for key files."""

from __future__ import annotations

import base64
import json
from datetime import timedelta

import msgspec
import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519

from idp import api
from idp.cli import local, main
from idp.cli.commands import key2jwt
from idp.start import exit_codes
from tests.support.programs.shell import Shell


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    return Shell(tmp_path_factory.mktemp("data")).install()


@pytest.fixture(scope="module")
def project(shell):
    return shell.get("project", "create", "--name", "Shop", "--get", "id")


# Applications


@pytest.mark.full
def test_what_is_not_named_stays_when_an_application_is_configured(shell, project):
    app = shell.get(
        *("app", "create", "--project", project, "--name", "C", "--get", "appId"),
        *("--redirect-uri", "https://c.example/cb", "--home-url", "https://c.example/"),
    )

    shell("app", "configure", "--project", project, app, "--access-token-type", "jwt")

    shown = shell("app", "show", "--project", project, app, "--format", "json").json()
    config = shown["app"]["oidcConfig"]
    assert config["accessTokenType"] == "OIDC_TOKEN_TYPE_JWT"
    assert config["redirectUris"] == ["https://c.example/cb"]
    assert config["homeUrl"] == "https://c.example/"


def test_a_preset_fills_in_what_is_not_named(shell, project):
    app = shell.get(
        *("app", "create", "--project", project, "--name", "Grafana", "--get", "appId"),
        *("--type", "web", "--preset", "grafana", "--host", "grafana.acme.example"),
    )

    shown = shell("app", "show", "--project", project, app, "--format", "json").json()
    config = shown["app"]["oidcConfig"]
    assert config["redirectUris"] == ["https://grafana.acme.example/login/generic_oauth"]
    assert config["groupsClaim"] == "groups"


@pytest.mark.parametrize("how", [(), ("--preset", "grafana", "--host", "grafana.acme.example")])
def test_a_new_application_is_for_whom_the_installation_proposes_by_default(
    shell, project, monkeypatch, how
):
    monkeypatch.setenv("IDP_NEW_APPLICATION_USERS", "own_organization")
    create = ("app", "create", "--project", project, "--name", "Users", "--get", "appId", *how)

    said = [(), ("--allowed-users", "granted")]
    apps = [shell.get(*create, *each) for each in said]

    shown = [
        shell("app", "show", "--project", project, app, "--format", "json").json() for app in apps
    ]
    assert [each["app"]["oidcConfig"]["allowedUsers"] for each in shown] == [
        "OIDC_ALLOWED_USERS_OWN_ORGANIZATION",
        "OIDC_ALLOWED_USERS_GRANTED",
    ]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--preset", "nothing", "--host", "a.example"], exit_codes.NOT_FOUND),
        (["--preset", "grafana"], exit_codes.USAGE),
        (["--preset", "grafana", "--host", "a b"], exit_codes.USAGE),
        (["--preset", "grafana", "--host", "a.example", "--type", "native"], exit_codes.USAGE),
    ],
)
def test_a_preset_that_can_not_be_used_makes_nothing(shell, project, arguments, code):
    before = shell.stored()

    shell("app", "create", "--project", project, "--name", "D", *arguments, code=code)

    assert shell.stored() == before


def test_an_api_is_an_application_of_its_own_type(shell, project):
    app = shell.get(
        *("app", "create", "--project", project, "--name", "Stock", "--type", "api"),
        *("--auth-method-type", "private-key-jwt", "--get", "appId"),
    )

    shown = shell("app", "show", "--project", project, app, "--format", "json").json()
    assert shown["app"]["apiConfig"]["authMethodType"] == "API_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT"


@pytest.mark.parametrize("preset", ["api", "cli"])
def test_a_preset_without_an_address_needs_no_host(shell, project, preset):
    made = shell("app", "create", "--project", project, "--name", preset, "--preset", preset)

    assert "appId" in made.out


# Key files


def test_a_public_key_is_read_from_its_file(shell, project, tmp_path):
    private = ed25519.Ed25519PrivateKey.generate()
    kind = serialization.PublicFormat.SubjectPublicKeyInfo
    pem = tmp_path / "public.pem"
    pem.write_bytes(private.public_key().public_bytes(serialization.Encoding.PEM, kind))
    app = shell.get("app", "create", "--project", project, "--name", "K", "--get", "appId")
    whose = ("--project", project, "--app", app)

    shell("key", "create", *whose, "--public-key", str(pem))

    assert "KEY_TYPE_JSON" in shell("key", "list", *whose).out


async def test_an_assertion_made_of_a_key_file_gets_a_token(server, visitor):
    way = await local.backend(server.service, None)
    user = await way.call(api.service_users.CREATE, [], {"userName": "n", "name": "N"})
    made = await way.call(
        api.service_users.CREATE_KEY, [user["userId"]], {"type": "KEY_TYPE_JSON"}
    )
    key = msgspec.json.decode(base64.b64decode(made["keyDetails"]), type=key2jwt.KeyFile)
    lasts, service = timedelta(minutes=5), server.service

    signed = key2jwt.assertion(key, server.issuer, lasts, server.clock.now(), service.random)

    answer = await visitor.post(
        "/oauth/v2/token",
        {
            "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
            "assertion": signed,
            "scope": "openid",
        },
    )
    assert answer.status == 200, answer.text


@pytest.mark.parametrize(
    ("content", "flags", "said"),
    [
        ("{}", [], "is not a key file"),
        ('{"keyId": "1", "key": "no"}', [], "can't be read"),
        ('{"keyId": "1", "key": "no"}', ["--expires", "2h"], "at most 1h"),
        ('{"keyId": "1", "key": "no"}', ["--expires", "soon"], "is not a duration"),
    ],
)
def test_what_is_no_key_file_makes_no_assertion(tmp_path, content, flags, said):
    file = tmp_path / "key.json"
    file.write_text(content)

    arguments = ["key2jwt", str(file), "--audience", "https://id.example", *flags]
    done = CliRunner().invoke(main, arguments)

    assert (done.exit_code, done.stdout) == (exit_codes.USAGE, "")
    assert said in done.stderr


# Lists


def test_filters_add_up_and_a_star_matches_what_follows(shell):
    create = ("service-user", "create", "--name", "N", "--user-name")
    for name in ("nightly", "Nighthawk", "daily"):
        shell(*create, name)
    listed = ("service-user", "list", "--format", "ndjson")

    names = {json.loads(line)["username"] for line in shell(*listed).out.splitlines()}
    found = shell(*listed, "--user-name", "NIGHT*").out.splitlines()
    exact = shell(*listed, "--user-name", "night").out

    assert names == {"nightly", "Nighthawk", "daily"}
    assert {json.loads(line)["username"] for line in found} == {"nightly", "Nighthawk"}
    assert exact == ""


def test_a_page_says_how_to_go_on_and_all_of_them_are_had_at_once(shell):
    for n in range(3):
        shell("project", "create", "--name", f"page-{n}")
    listed = ("project", "list", "--name", "page-*")

    first = shell(*listed, "--limit", "2")
    cursor = first.err.split("--cursor ")[1].strip()
    second = shell(*listed, "--limit", "2", "--cursor", cursor)
    whole = shell(*listed, "--limit", "2", "--all", "--format", "json").json()

    assert len(first.out.splitlines()) == 3
    assert len(second.out.splitlines()) == 2
    assert second.err == ""
    assert len(whole["result"]) == 3
    assert whole["details"]["totalResult"] == "3"


# Policies


@pytest.mark.full
def test_a_policy_is_changed_where_it_is_stated_and_inherited_else(shell):
    shell("policy", "set", "password-complexity", "--instance", "--min-length", "9")
    inherited = shell.get("policy", "get", "password-complexity", "--get", "policy.minLength")
    shell("policy", "set", "password-complexity", "--min-length", "12")
    own = shell.get("policy", "get", "password-complexity", "--get", "policy.minLength")
    shell("policy", "set", "password-complexity", "--has-symbol")
    shell("policy", "reset", "password-complexity", "--yes")
    reset = shell.get("policy", "get", "password-complexity", "--get", "policy.minLength")

    assert (inherited, own, reset) == ("9", "12", "9")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("user list --limit abc", "--limit: must be an integer"),
        ("user create --email x --given-name A --family-name B", "--email: is not an email"),
        ("audit search --since yesterday", "--since: is neither a duration such as 24h or"),
    ],
)
def test_an_error_names_the_option_and_not_the_field_of_the_api(shell, line, message):
    assert f"idp: {message}" in shell(*line.split(), code=exit_codes.USAGE).err


def test_a_lockout_policy_is_shown_with_its_zeros(shell):
    done = shell("policy", "set", "lockout", "--max-password-attempts", "4")

    assert done.out.split()[1::2] == ["4", "0", "0"]
    assert done.out in shell("policy", "get", "lockout").out
    assert shell("policy", "set", "lockout", "--help").out.count(" 0:") == 3


@pytest.mark.promise("security: requirePkce")
@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ([], (False, 60)),
        (["--require-pkce", "--refresh-token-reuse-seconds", "0"], (True, 0)),
        (["--preset", "grafana", "--host", "shop.example"], (True, 60)),
        (["--preset", "spring", "--host", "shop.example"], (False, 60)),
    ],
)
def test_a_new_application_requires_pkce_where_that_is_asked_or_its_preset_sends_it(
    shell, project, flags, expected
):
    create = ("app", "create", "--project", project, "--name", "New one", "--get", "appId")
    app_id = shell.get(*create, *flags)
    (app,) = [each for each in shell.stored()["applications"].values() if each.id == app_id]

    assert (app.requires_pkce, app.refresh_token_reuse_seconds) == expected


def test_the_table_of_a_preset_says_how_its_configuration_is_printed(shell):
    table = shell("preset", "show", "node")
    text = shell("preset", "show", "node", "--get", "configuration").out

    assert "\N{REPLACEMENT CHARACTER}" not in table.out
    assert "configuration " not in table.out
    assert "server.mjs" in table.out
    assert "idp preset configuration node --host HOST --client-id ID" in table.err
    assert text.startswith("// server.mjs")
