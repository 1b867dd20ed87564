"""An option or argument that names something and is empty: a usage error, and nothing is done."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from idp.cli import COMMANDS, main, naming
from tests.support.programs.shell import Shell


@pytest.fixture
def shell(tmp_path):
    return Shell(tmp_path).install()


def commands(command: click.Command, path: tuple[str, ...] = ()):
    """Every command below this one, with the words that call it."""
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            found = command.get_command(click.Context(command), name)
            yield from commands(found, (*path, name))
    else:
        yield path, command


EVERY = list(commands(main))


@pytest.mark.parametrize("path", [path for path, _ in EVERY], ids=" ".join)
def test_no_command_takes_an_empty_text_for_a_name(path):
    command = dict(EVERY)[path]

    for parameter in command.params:
        if naming.is_name(parameter):
            with pytest.raises(click.BadParameter, match="the value is empty"):
                parameter.type.convert("", parameter, click.Context(command))


@pytest.mark.full
@pytest.mark.parametrize(
    "words",
    [
        ["project", "create", "--name", "Shop", "--org", ""],
        ["project", "create", "--name", "Shop", "--url", ""],
        ["org", "show", ""],
        ["org", "delete", "", "--yes"],
        ["app", "create", "--project", "", "--name", "Web"],
        ["export", "--org", ""],
    ],
    ids=" ".join,
)
def test_an_empty_name_is_a_usage_error_and_changes_nothing(shell, words):
    before = shell.stored()

    ran = shell(*words, code=2)

    assert ran.out == ""
    assert "the value is empty, so nothing was done" in ran.err
    assert shell.stored() == before


@pytest.mark.parametrize("option", ["--data", "--store", "--config"])
def test_an_empty_place_is_a_usage_error(option):
    done = CliRunner().invoke(main, ["project", "list", option, ""])

    assert (done.exit_code, done.stdout) == (2, "")
    assert "the value is empty, so nothing was done" in done.stderr


@pytest.mark.parametrize("variable", ["IDP_ORG", "IDP_URL"])
def test_an_empty_variable_that_names_something_is_a_usage_error(tmp_path, variable):
    words = ["project", "create", "--name", "Shop"]

    done = CliRunner().invoke(main, words, env={variable: ""})

    assert (done.exit_code, done.stdout) == (2, "")
    assert f"{variable} is empty" in done.stderr


@pytest.mark.full
def test_the_organization_of_the_variable_is_acted_in_unless_an_option_names_another(shell):
    one, other = [
        shell.get(
            *["org", "create", "--name", name, "--owner-user-name", name],
            *["--owner-email", f"{name}@acme.example", "--owner-first-name", "A"],
            *["--owner-last-name", "B", "--get", "orgId"],
        )
        for name in ("one", "other")
    ]

    shell("project", "create", "--name", "Here", IDP_ORG=one)
    shell("project", "create", "--name", "There", "--org", other, IDP_ORG=one)

    lists = [shell("project", "list", "--org", each).out for each in (one, other)]
    assert ["Here" in text for text in lists] == [True, False]
    assert ["There" in text for text in lists] == [False, True]


def test_every_command_is_guarded():
    assert len({path[0] for path, _ in EVERY}) == len(COMMANDS)


@pytest.mark.full
def test_an_id_that_is_read_as_an_option_is_told_how_to_pass(shell):
    ran = shell("project-grant", "reactivate", "--project", "5", "-E4x", code=2)

    assert "An id that begins with '-' goes last, after '--'." in ran.err


@pytest.mark.full
def test_an_unknown_long_option_gets_no_hint_about_ids(shell):
    ran = shell("project-grant", "reactivate", "--project", "5", "--unknown", code=2)

    assert "No such option" in ran.err
    assert "An id that begins" not in ran.err
