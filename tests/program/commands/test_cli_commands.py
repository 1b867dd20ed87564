"""The commands: what each is made of, what it prints where, and how it ends."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from importlib import import_module

import pytest
from click.testing import CliRunner

from idp.api import OPERATIONS
from idp.cli import COMMANDS, main
from idp.cli.building import Verb
from idp.records import PATS
from idp.start import exit_codes
from tests.support import commands_table
from tests.support.commands_table import leaves
from tests.support.programs.shell import Shell

LEAVES = dict(leaves())


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    return Shell(tmp_path_factory.mktemp("data")).install()


@pytest.fixture(scope="module")
def project(shell):
    return shell.get("project", "create", "--name", "Shop", "--get", "id")


# What a command is made of


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_each_command_has_help_with_an_example_that_can_be_typed(path):
    command = LEAVES[path]
    help = " ".join(command.help.split())
    if path[1] in ("serve", "completion"):
        return

    example = shlex.split(help.partition("Example: ")[2])

    assert tuple(example[: len(path)]) == path
    command.make_context("idp", example[len(path) :])


# Calls that are the same as another one, which has a command, or that commands of their own make,
# and the one that never ends.
SAME = {
    "GET /v2/events/stream",
    "GET /admin/v1/doctor",
    "POST /admin/v1/export",
    "POST /admin/v1/import",
    "GET /management/v1/orgs/me",
    "DELETE /management/v1/orgs/me",
    "POST /admin/v1/orgs/_search",
    "GET /management/v1/users/{userId}/pats",
    "GET /management/v1/users/{userId}/keys",
    "GET /management/v1/projects/{projectId}/apps/{appId}/keys",
}


def test_each_call_of_the_management_api_has_a_command():
    verbs = [each.description for each in LEAVES.values() if isinstance(each, Verb)]
    called = {id(operation) for verb in verbs for operation in _operations(verb)}

    without = {f"{each.method} {each.path}" for each in OPERATIONS if id(each) not in called}

    assert without == SAME


def _operations(verb):
    return [*verb.operations.values(), verb.creation, *(read for read, _ in verb.bases.values())]


@pytest.mark.full
def test_the_page_of_the_documentation_has_every_command():
    assert commands_table.PAGE.read_text("utf-8") == commands_table.page()


def test_the_overview_says_of_each_command_what_the_command_says():
    shown = {name: getattr(*_found(where)).short_help for name, (where, _) in COMMANDS.items()}

    assert all(shown.values())
    assert set(shown) == {path[1] for path in LEAVES}


def _found(where):
    module, _, name = where.partition(":")
    return import_module(module), name


@pytest.mark.full
def test_the_overview_imports_no_part_of_the_service():
    code = (
        "import sys, idp.cli as c; c.main(['--help'], standalone_mode=False); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    loaded = done.stdout.split()

    assert "click" in loaded
    assert not [name for name in loaded if name.startswith(("idp.api", "tornado", "storage"))]


@pytest.mark.full
@pytest.mark.parametrize("shell_name", ["bash", "zsh", "fish"])
def test_completion_is_printed_for_each_shell(shell_name):
    done = CliRunner().invoke(main, ["completion", shell_name])

    assert done.exit_code == 0
    assert "_IDP_COMPLETE" in done.stdout


def test_completion_knows_the_names_that_a_field_takes():
    env = {
        "_IDP_COMPLETE": "bash_complete",
        "COMP_WORDS": "idp app create --grant-type dev",
        "COMP_CWORD": "4",
    }

    done = CliRunner().invoke(main, [], prog_name="idp", env=env)

    assert "device-code" in done.stdout


# What is printed where


@pytest.mark.full
def test_data_is_on_stdout_and_all_else_on_stderr(shell, project):
    ran = shell("app", "create", "--project", project, "--name", "A", "--format", "json")

    assert {"appId", "clientId", "clientSecret", "details"} <= set(ran.json())
    assert ran.err == "clientSecret is shown only once; store it now\n"


def test_a_list_is_a_table_or_json_or_a_line_for_each(shell, project):
    for key in ("buyer", "seller"):
        shell("role", "add", "--project", project, "--key", key, "--display-name", key.title())
    listed = ("role", "list", "--project", project)

    table = shell(*listed).out.splitlines()
    document = shell(*listed, "--format", "json").json()
    lines = [json.loads(line) for line in shell(*listed, "--format", "ndjson").out.splitlines()]

    assert table[0].split() == ["KEY", "DISPLAYNAME", "GROUP"]
    assert [line.split() for line in table[1:]] == [["buyer", "Buyer"], ["seller", "Seller"]]
    assert [each["key"] for each in document["result"]] == ["buyer", "seller"]
    assert lines == document["result"]


def test_an_empty_list_prints_nothing(shell):
    other = shell.get("project", "create", "--name", "Empty", "--get", "id")

    ran = shell("role", "list", "--project", other)

    assert (ran.out, ran.err) == ("", "")


def test_a_field_that_the_answer_lacks_is_a_mistake_of_use(shell, project):
    ran = shell("project", "show", project, "--get", "project.colour", code=exit_codes.USAGE)

    assert ran.out == ""
    assert "the answer has no project.colour" in ran.err


# Secrets


def test_a_secret_goes_to_its_file_and_nowhere_else(shell, tmp_path):
    user = shell.get(
        "service-user", "create", "--user-name", "nightly", "--name", "N", "--get", "userId"
    )
    file = tmp_path / "token"

    ran = shell("pat", "create", "--user", user, "--expires", "24h", "--secret-file", str(file))

    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_text().startswith("idp_pat_")
    assert "idp_pat_" not in ran.out + ran.err


@pytest.mark.promise("credentials: longest lives")
def test_a_token_that_would_outlast_the_maximum_is_refused_with_its_cure(shell, tmp_path):
    user = shell.get(
        "service-user", "create", "--user-name", "monthly", "--name", "M", "--get", "userId"
    )
    file = str(tmp_path / "token")
    create = ("pat", "create", "--user", user, "--secret-file", file)

    ran = shell(*create, "--expires", "31d", code=None, IDP_PAT_MAX_DAYS="30")
    assert ran.code != 0
    assert "30 days from now" in ran.err
    stored = shell.stored()[PATS.name].values()
    assert not [pat for pat in stored if pat.user_id == user]
    shell(*create, "--expires", "29d", IDP_PAT_MAX_DAYS="30")


def test_no_secret_is_made_that_can_not_be_stored(shell, project, tmp_path):
    file = tmp_path / "secret"
    file.write_text("another's")
    before = shell.stored()

    ran = shell(
        *("app", "create", "--project", project, "--name", "B", "--secret-file", str(file)),
        code=exit_codes.USAGE,
    )

    assert "can't be made: File exists" in ran.err
    assert shell.stored() == before
    assert file.read_text() == "another's"


def test_a_refusal_leaves_no_empty_file(shell, tmp_path):
    file = tmp_path / "secret"

    shell(
        *("app", "create", "--project", "nobody", "--name", "B", "--secret-file", str(file)),
        code=exit_codes.NOT_FOUND,
    )

    assert not file.exists()


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_no_option_takes_a_secret_itself(path):
    taken = {opt for each in LEAVES[path].params for opt in each.opts}

    assert not taken & {"--password", "--new-password", "--token", "--secret", "--hash"}


def test_a_password_comes_from_stdin_or_the_environment(shell):
    created = ("user", "create", "--given-name", "M", "--family-name", "M", "--get", "userId")

    shell(*created, "--email", "a@x.example", "--password-file", "-", input="four green kettles\n")
    shell(*created, "--email", "b@x.example", IDP_PASSWORD="four green kettles")
    weak = shell(
        *created,
        "--email",
        "c@x.example",
        "--password-file",
        "-",
        input="abc\n",
        code=exit_codes.USAGE,
    )

    kept = {each.user_name: each for each in shell.stored()["users"].values()}
    assert kept["a@x.example"].password
    assert kept["b@x.example"].password
    assert "c@x.example" not in kept
    assert "idp: --password-file: " in weak.err


def test_taking_in_somebody_from_elsewhere_can_be_tried(shell):
    before = shell.stored()
    taken = ("user", "import", "--user-name", "ada", "--first-name", "Ada", "--last-name", "L")

    foretold = shell(*taken, "--email", "ada@x.example", "--dry-run", "--format", "json").json()
    refused = shell(*taken, "--email", "nowhere", "--dry-run", code=exit_codes.USAGE)

    assert (foretold["dryRun"], foretold["mail"]) == (True, "held")
    assert "--email: " in refused.err
    assert shell.stored() == before


# How it ends


def test_every_problem_is_reported_by_its_option_and_nothing_is_stored(shell, project):
    before = shell.stored()

    ran = shell(
        *("app", "create", "--project", project, "--name", "", "--type", "web"),
        *("--redirect-uri", "ftp://a.example", "--redirect-uri", "https://a.example/#"),
        code=exit_codes.USAGE,
    )

    lines = ran.err.splitlines()
    assert ran.out == ""
    assert {line.split()[1] for line in lines} == {
        "--name:",
        "--redirect-uri[0]:",
        "--redirect-uri[1]:",
    }
    assert any(line.endswith("(redirect_uri.fragment)") for line in lines)
    assert shell.stored() == before


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["project", "show", "nobody"], exit_codes.NOT_FOUND),
        (["project", "create"], exit_codes.USAGE),
        (["project", "create", "--colour", "red"], exit_codes.USAGE),
        (["key", "list"], exit_codes.USAGE),
        (["project", "create", "--name", "X", "--get", "Id"], exit_codes.USAGE),
        (["project", "create", "--name", "X", "--get", "details.id"], exit_codes.USAGE),
        (["project", "create", "--name", "X", "--org", "nobody"], exit_codes.NOT_FOUND),
        (["api", "GET", "/nowhere"], exit_codes.USAGE),
        (["feature", "show", "--url", "http://localhost:1"], exit_codes.USAGE),
    ],
)
def test_the_exit_code_says_what_went_wrong(shell, arguments, code):
    before = shell.stored()

    ran = shell(*arguments, code=code)

    assert (ran.out, bool(ran.err)) == ("", True)
    assert shell.stored() == before


def test_what_the_state_of_things_forbids_ends_with_6(shell):
    shell("keys", "rotate", code=None)

    ran = shell("keys", "rotate", code=exit_codes.CONFLICT)

    assert "can be rotated again from" in ran.err


def test_what_is_there_already_ends_with_6(shell):
    create = ("service-user", "create", "--user-name", "twin", "--name", "T")
    shell(*create)

    ran = shell(*create, code=exit_codes.CONFLICT)

    assert "idp: --user-name: " in ran.err


def test_what_ends_something_is_done_by_those_who_mean_it(shell, project):
    shell("role", "add", "--project", project, "--key", "gone", "--display-name", "G")
    removal = ("role", "remove", "--project", project, "gone")
    before = shell.stored()

    asked = shell(*removal, input="n\n", code=exit_codes.FAILED)
    after = shell.stored()
    shell(*removal, "--yes")

    assert "Delete the role gone of the project" in asked.err
    assert asked.out == ""
    assert after == before
    assert shell.stored() != before


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"IDP_URL": "http://localhost:1"}, "a token is required"),
        ({"IDP_URL": "ftp://localhost", "IDP_TOKEN": "t"}, "is not the address of a service"),
        ({"IDP_URL": "http://localhost:1", "IDP_TOKEN": "a b"}, "invalid characters"),
    ],
)
def test_a_service_is_named_by_its_address_and_a_token(shell, settings, said):
    ran = shell("feature", "show", code=exit_codes.USAGE, **settings)

    assert said in ran.err


def test_a_service_that_is_not_there_ends_with_69(shell):
    ran = shell(
        "feature", "show", code=exit_codes.UNREACHABLE, IDP_URL="http://localhost:1", IDP_TOKEN="t"
    )

    assert "the service at http://localhost:1 can't be reached" in ran.err


def test_any_call_can_be_made_by_its_address(shell, tmp_path):
    body = tmp_path / "body.json"
    body.write_text('{"name": "By hand"}')

    made = shell.get("api", "post", "/management/v1/projects", "--body", str(body), "--get", "id")

    assert shell.get("project", "show", made, "--get", "project.name") == "By hand"
