"""The command lines of a fix can be run as they are, whatever the ids are."""

from __future__ import annotations

import shlex

import click
import pytest

from idp.cli import main
from idp.oauth.refusals import command_lines


def parsed(line: str) -> tuple[str, dict[str, object]]:
    """The name and the parameters of the `idp` command that the line would run."""
    command: click.Command = main
    words = shlex.split(line)[1:]
    while isinstance(command, click.Group):
        found = command.get_command(click.Context(command), words.pop(0))
        assert found is not None
        command = found
    context = command.make_context(command.name, words)
    return str(command.name), context.params


@pytest.mark.parametrize("object_id", ["300", "-E4x", "--help", "a b"])
def test_an_id_is_an_argument_whatever_it_begins_with(object_id):
    start = "idp project-grant reactivate --project 5"
    line = command_lines.with_id(start, object_id, "--org 7")

    name, parameters = parsed(line)

    assert name == "reactivate"
    assert object_id in parameters.values()
    assert parameters["org_id"] == "7"


def test_an_id_stands_first_unless_it_begins_with_a_dash():
    assert command_lines.with_id("idp user show", "5", "--org 7") == "idp user show 5 --org 7"
    assert command_lines.with_id("idp user show", "-5", "--org 7") == "idp user show --org 7 -- -5"
