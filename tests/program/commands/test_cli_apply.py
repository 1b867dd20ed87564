"""`idp apply`: an installation as a file says that it is to be."""

from __future__ import annotations

import json
import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from idp.start import exit_codes
from tests.support.programs.shell import Shell

STATE = """
features: {oidcTokenExchange: true}
policies:
  passwordComplexity: {minLength: 9}
organizations:
  - name: Acme
    serviceUsers:
      - {userName: nightly, name: Nightly script, secretFile: FILES/nightly}
    policies:
      passwordComplexity: {minLength: 12}
    projects:
      - name: Shop
        roles:
          - {roleKey: buyer, displayName: Buyer}
          - {roleKey: seller, displayName: Seller}
        applications:
          - {name: Grafana, preset: grafana, host: "localhost:3000", secretFile: FILES/grafana}
          - {name: Web shop, redirect_uris: ["http://localhost:3000/cb"]}
        apis:
          - {name: Stock, keyFile: FILES/stock.json,
             authMethodType: API_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT}
    groups:
      - name: Staff
        externalId: s-1
        roles: [{project: Shop, roleKeys: [seller]}]
    connections:
      - {kind: generic_oidc, name: Corp, issuer: "https://login.corp.example", clientId: idp,
         clientSecretFile: FILES/corp.secret}
"""
STEPS = 14


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    return Shell(tmp_path_factory.mktemp("data")).install().directory


@pytest.fixture
def shell(installed, tmp_path):
    return Shell(Path(shutil.copytree(installed, tmp_path / "data")))


@pytest.fixture
def apply(shell, tmp_path):
    """Applies a state."""

    def apply(state, *flags, **options):
        (tmp_path / "corp.secret").write_text("a secret of the provider")
        file = tmp_path / "state.yaml"
        file.write_text(state.replace("FILES", str(tmp_path)))
        return shell("apply", "-f", str(file), *flags, **options)

    return apply


def steps(ran):
    """What was planned: a mark and a thing for each step."""
    return [line for line in ran.out.splitlines() if not line.startswith(" ")]


@pytest.mark.promise("credentials: longest lives")
def test_a_key_of_a_state_ends_at_the_longest_life_that_is_allowed(shell, apply, tmp_path):
    apply(STATE, IDP_KEY_MAX_DAYS="30")

    (key,) = shell.stored()["app_keys"].values()
    assert key.expires_at - key.created_at == timedelta(days=30)


@pytest.mark.promise("security: requirePkce")
def test_a_state_is_brought_about_once_and_then_there_is_nothing_to_do(shell, apply, tmp_path):
    first = apply(STATE)
    before = shell.stored()
    again = apply(STATE)

    assert len(steps(first)) == STEPS
    assert (again.out, again.err) == ("", "nothing to do\n")
    assert shell.stored() == before
    for name in ("nightly", "grafana", "stock.json"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    assert json.loads((tmp_path / "stock.json").read_text())["type"] == "application"
    apps = {each.name: each for each in before["applications"].values()}
    assert [apps[name].requires_pkce for name in ("Grafana", "Web shop")] == [True, False]
    assert {apps[name].refresh_token_reuse_seconds for name in ("Grafana", "Web shop")} == {60}
    names = {each.name for each in before["applications"].values()}
    assert {"Grafana", "Web shop", "Stock"} <= names
    assert {each.key for each in before["project_roles"].values()} == {"buyer", "seller"}


def test_a_dry_run_prints_the_same_plan_and_does_nothing(shell, apply, tmp_path):
    before = shell.stored()

    planned = apply(STATE, "--dry-run")

    assert shell.stored() == before
    assert not (tmp_path / "grafana").exists()
    assert planned.out == apply(STATE).out


def test_a_plan_says_what_each_field_holds_before_and_after(apply):
    apply(STATE)

    ran = apply(STATE.replace("minLength: 12", "minLength: 14"))

    assert ran.out == (
        "~ organization Acme / policy passwordComplexity\n    minLength: 12 -> 14\n"
    )


def test_what_the_file_does_not_speak_of_stays_as_it_is(shell, apply):
    apply(STATE)
    before = shell.stored()

    ran = apply("organizations: [{name: Acme, projects: [{name: Shop}]}]", "--prune")

    assert ran.err == "nothing to do\n"
    assert shell.stored() == before


def test_what_a_list_lacks_is_deleted_by_those_who_mean_it(shell, apply):
    apply(STATE)
    before = shell.stored()
    state = STATE.replace("          - {roleKey: seller, displayName: Seller}\n", "")

    kept = apply(state)
    refused = apply(state, "--prune", input="n\n", code=exit_codes.FAILED)
    unchanged = shell.stored() == before
    done = apply(state, "--prune", "--yes")

    assert kept.err == "nothing to do\n"
    assert "Delete 1 for good?" in refused.err
    assert unchanged
    assert steps(done) == ["- organization Acme / project Shop / role seller"]
    assert [each.key for each in shell.stored()["project_roles"].values()] == ["buyer"]


@pytest.mark.parametrize("members", ["[]", "[{user: nightly, roles: [IAM_OWNER_VIEWER]}]"])
def test_a_file_without_an_owner_removes_none(shell, apply, members):
    apply(STATE)
    before = shell.stored()
    refused = apply(f"members: {members}", "--prune", "--yes", code=exit_codes.CONFLICT)

    assert "members: a list that removes an owner must name a member with the role" in refused.err
    assert shell.stored() == before


def test_an_organization_is_never_deleted_by_a_file(shell, apply):
    apply(STATE)
    before = shell.stored()

    apply("organizations: []", "--prune", "--yes")

    assert shell.stored() == before


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("colour: red", "idp: colour: is not known (field.unknown)"),
        ("organizations: [{nome: A}]", "idp: organizations[0].name: is required (field.required)"),
        ("organizations: {}", "idp: organizations: must be a list (field.wrong_type)"),
        ("- 1", "must be an object"),
        ("organizations: [{name: A}, {name: A}]", "organizations[1].name: is listed twice"),
        ("features: {}\nfeatures: {}", "the key features is listed twice"),
        ("a: &x [1]\nb: *x", "aliases are not supported"),
        ("a: !!python/object/apply:os.getcwd []", "is not YAML"),
        ("{1: 2}", "the key 1 is not a text"),
        ("a: [", "is not YAML"),
        (
            "organizations: [{name: A, projects: [{name: P, applications: ["
            "{name: X, preset: none}]}]}]",
            "organizations[0].projects[0].applications[0].preset: is not known (preset.not_found)",
        ),
        (
            "organizations: [{name: A, projects: [{name: P, applications: ["
            "{name: X, redirectUris: ['ftp://x']}]}]}]",
            "organizations[0].projects[0].applications[0].redirectUris[0]: ",
        ),
    ],
)
def test_a_state_that_can_not_be_is_refused_by_its_path(shell, apply, state, said):
    before = shell.stored()

    ran = apply(state, code=None)

    assert ran.code == exit_codes.USAGE
    assert said in ran.err
    assert ran.out == ""
    assert shell.stored() == before


def test_a_member_who_is_not_there_is_refused(shell, apply):
    before = shell.stored()

    ran = apply("members: [{user: nobody, roles: [IAM_OWNER]}]", code=exit_codes.FAILED)

    assert "no users have the name nobody" in ran.err
    assert shell.stored() == before


def test_a_secret_is_not_made_where_it_can_not_be_stored(shell, apply):
    before = shell.stored()

    ran = apply(STATE.replace("FILES/grafana", "FILES/missing/grafana"), code=exit_codes.USAGE)

    assert "missing/grafana has no directory" in ran.err
    assert shell.stored() == before


def test_a_secret_is_not_made_over_another_s_file(shell, apply, tmp_path):
    (tmp_path / "grafana").write_text("another's")
    before = shell.stored()

    ran = apply(STATE, code=exit_codes.USAGE)

    assert f"application Grafana: {tmp_path}/grafana already exists" in ran.err
    assert shell.stored() == before
    assert (tmp_path / "grafana").read_text() == "another's"


def test_what_was_interrupted_is_gone_on_with_by_the_same_command(shell, apply):
    other = shell.get(
        *("service-user", "create", "--user-name", "nightly", "--name", "N", "--get", "userId")
    )

    first = apply(STATE, code=exit_codes.INTERRUPTED)
    shell("user", "delete", other, "--yes")
    second = apply(STATE)

    assert "idp: not done: organization Acme / service user nightly" in first.err
    assert f"3 of {STEPS} steps are done; after the cause is removed, the same" in first.err
    assert len(steps(second)) == STEPS - 3
    assert apply(STATE).err == "nothing to do\n"


def test_members_are_named_by_their_user_names(shell, apply):
    state = """
organizations:
  - name: Acme
    serviceUsers: [{userName: nightly, name: N}]
    members: [{user: nightly, roles: [ORG_OWNER]}]
members: [{user: nightly, roles: [IAM_OWNER_VIEWER]}]
"""
    apply(state)

    again = apply(state)
    changed = apply(state.replace("[ORG_OWNER]", "[ORG_OWNER, ORG_USER_MANAGER]"))
    rest = state.replace("[ORG_OWNER]", "[ORG_OWNER, ORG_USER_MANAGER]").replace(
        "[{user: nightly, roles: [IAM_OWNER_VIEWER]}]",
        "[{user: admin@localhost, roles: [IAM_OWNER]}]",
    )
    pruned = apply(rest, "--prune", "--yes")

    assert again.err == "nothing to do\n"
    assert steps(changed) == ["~ organization Acme / member nightly"]
    assert steps(pruned) == ["- member of the instance nightly@acme.localhost"]


def test_a_plan_is_json_for_programs(apply):
    whole = apply("features: {oidcTokenExchange: true}", "--dry-run", "--format", "json").json()

    assert whole["steps"] == [
        {
            "action": "change",
            "what": "features",
            "fields": [{"field": "oidcTokenExchange", "before": False, "after": True}],
        }
    ]


CONFIRMING = """
organizations:
  - name: Acme
    projects:
      - name: Shop
        applications:
          - {name: App, appType: OIDC_APP_TYPE_NATIVE, redirectUris: ["app.example:/cb"],
             authMethodType: OIDC_AUTH_METHOD_TYPE_NONE, confirmReturn: BOOL, requirePkce: false}
"""


@pytest.mark.parametrize("said", ["true", "false"])
def test_what_a_state_says_of_confirmation_and_pkce_is_brought_about_once(shell, apply, said):
    state = CONFIRMING.replace("BOOL", said)
    apply(state)
    (app,) = [each for each in shell.stored()["applications"].values() if each.name == "App"]

    assert (app.confirms_return, app.requires_pkce) == (said == "true", False)
    assert app.refresh_token_reuse_seconds == 60
    assert apply(state).err == "nothing to do\n"


PROPOSED = """
organizations:
  - name: Acme
    projects:
      - name: Shop
        applications:
          - {name: As proposed, redirect_uris: ["http://localhost:3000/cb"]}
          - {name: Preset, preset: grafana, host: "localhost:3000", secretFile: FILES/grafana}
          - {name: As said, redirect_uris: ["http://localhost:3000/cb"],
             allowedUsers: OIDC_ALLOWED_USERS_GRANTED}
"""


@pytest.mark.promise("application users: proposed")
@pytest.mark.parametrize("proposed", ["everybody", "own_organization", "granted"])
def test_a_new_application_of_a_state_is_for_whom_the_installation_proposes_by_default(
    shell, apply, monkeypatch, proposed
):
    monkeypatch.setenv("IDP_NEW_APPLICATION_USERS", proposed)
    apply(PROPOSED)

    made = {
        one.name: one.allowed_users
        for one in shell.stored()["applications"].values()
        if one.name in PROPOSED
    }
    assert made == {"As proposed": proposed, "Preset": proposed, "As said": "granted"}


def test_a_state_applied_again_leaves_who_may_use_an_application_as_it_is(
    shell, apply, monkeypatch
):
    monkeypatch.setenv("IDP_NEW_APPLICATION_USERS", "everybody")
    apply(PROPOSED)
    monkeypatch.setenv("IDP_NEW_APPLICATION_USERS", "own_organization")

    again = apply(PROPOSED)

    made = {one.name: one.allowed_users for one in shell.stored()["applications"].values()}
    assert made["As proposed"] == made["Preset"] == "everybody"
    assert (again.out, again.err) == ("", "nothing to do\n")
