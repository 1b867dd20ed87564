"""The command lines that the console shows beside its pages: they can be typed as they stand."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import pytest

from tests.support.commands_table import leaves

CONSOLE = Path(__file__).parents[2] / "handlers" / "console"
LEAVES = {path[1:]: command for path, command in leaves()}


def shown():
    """Each text that is a `command` of a page, its placeholders filled in."""
    for module in sorted(CONSOLE.rglob("*.py")):
        for node in ast.walk(ast.parse(module.read_text("utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "command":
                yield from texts(node.value)
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "shown":
                for argument in node.args:
                    yield from texts(argument)
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "command":
                yield from texts(node.value)


def texts(value):
    """A text; of one that is put together, what is left without its parts."""
    if isinstance(value, ast.Constant) and value.value:
        yield re.sub(r"\{\w+\}", "x", value.value)
    if isinstance(value, ast.JoinedStr):
        text = ""
        for each in value.values:
            is_word = text.endswith(" ")
            text += each.value if isinstance(each, ast.Constant) else "x" if is_word else ""
        yield re.sub(r"\{\w+\}", "x", text)


def test_there_are_command_lines_to_look_at():
    assert len(list(shown())) > 20


@pytest.mark.parametrize("line", sorted(set(shown())))
def test_a_command_line_of_the_console_is_one(line):
    words = shlex.split(line)
    if not words[1:] or words[0].startswith("-") or words[1] == "x" or words[1].endswith("-"):
        return  # the verb is put together: it stands in the module's own list
    length = 2 if tuple(words[:2]) in LEAVES else 3

    command = LEAVES[tuple(words[:length])]

    command.make_context("idp", [*words[length:], "--org", "x"])
