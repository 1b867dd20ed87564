"""The commands of each integration guide register what the guide says."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from idp.clients import presets
from tests.support import guides
from tests.support.programs.shell import Shell

PAGES = guides.pages()
_BLOCK = re.compile(r"^Or on the .*?^```sh\n(.+?)^```$", re.DOTALL | re.MULTILINE)
_ROW = re.compile(r"^\| `(\w+)` \| (`.*`) \|", re.MULTILINE)


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    return Shell(tmp_path_factory.mktemp("data")).install()


def run(shell: Shell, block: str) -> tuple[str, dict]:
    """Run the commands of a guide: the id of its project, and the answer to the registration."""
    set_project, *others = block.replace("\\\n", "").splitlines()
    name, command = re.fullmatch(r'(\w+)="\$\(idp (.+)\)"', set_project).groups()
    project = shell.get(*shlex.split(command))
    answers = []
    for line in others:
        program, *words = shlex.split(line.replace(f"${name}", project))
        assert program == "idp"
        answers.append(shell(*words, "--format", "json"))
    return project, answers[0].json()


def said(text: str) -> dict[str, list]:
    """The settings that a guide's table names, each with its values."""
    cells = _ROW.findall(text.partition("This registers:")[2].partition("## Configure")[0])
    return {field: re.findall("`([^`]*)`", values) for field, values in cells}


def as_written(value) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [each if isinstance(each, str) else json.dumps(each) for each in values]


@pytest.mark.parametrize("name", presets.all_presets())
def test_the_commands_of_a_guide_register_what_it_says(shell, monkeypatch, tmp_path, name):
    monkeypatch.chdir(tmp_path)
    text, preset = PAGES[f"{name}.md"], presets.find(name)
    [block] = _BLOCK.findall(text)
    project, made = run(shell, block)
    shown = shell("app", "show", "--project", project, made["appId"], "--format", "json").json()
    config = shown["app"]["apiConfig" if preset.kind == "api" else "oidcConfig"]
    secret = tmp_path / "client-secret"

    told = said(text)  # what is false is left out of the answer
    assert told == {field: as_written(config.get(field, False)) for field in told}
    assert bool(told) == (preset.kind != "api")
    assert told.get("redirectUris", []) == config.get("redirectUris", [])
    assert secret.exists() == preset.has_secret
    assert "clientSecret" not in made or preset.has_secret


@pytest.mark.parametrize("name", presets.all_presets())
def test_the_configuration_of_a_guide_is_printed_by_the_command_that_it_names(shell, name):
    [command] = re.findall(r"`idp (preset configuration .+?)`", PAGES[f"{name}.md"])
    printed = shell(*shlex.split(command)).out.splitlines()

    assert "CLIENT_ID" in "".join(printed)
    shown = PAGES[f"{name}.md"].replace("https://id.example", "http://localhost:8080").splitlines()
    lines = [line for line in printed if line and not re.match("(# )?---", line)]
    assert [line for line in lines if line not in shown] == []
