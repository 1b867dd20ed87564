"""The commands as docs/reference/command-line.md shows them:
`python -m tests.support.commands_table`.

The tables are made of the commands themselves. Run as a program this brings the page up to date;
`tests/program/commands/test_cli_commands.py` refuses a page that is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from idp.cli import COMMANDS, main

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "command-line.md"
BEGIN = "<!-- commands: made by python -m tests.support.commands_table -->"
END = "<!-- end of commands -->"

# What all commands have that work on a store or a service; the page says so once.
COMMON = {"--data", "--store", "--config", "--url", "--token-file", "--org", "--format", "--get"}
_HEAD = ("| command | what it does | its own options |", "|---|---|---|")


def leaves(
    command: click.Command = main, path: tuple[str, ...] = ("idp",)
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Each command that does something, with its words."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from leaves(command.get_command(context, name), (*path, name))
    else:
        yield path, command


def tables() -> str:
    """A table for each noun."""
    lines: list[str] = []
    for noun, (_, about) in COMMANDS.items():
        rows = [_row(path, each) for path, each in leaves() if path[1] == noun]
        lines += ["", f"### idp {noun}", "", about, "", *_HEAD, *rows]
    return "\n".join([*lines, ""])


def _row(path: tuple[str, ...], command: click.Command) -> str:
    arguments = [
        each.make_metavar(click.Context(command)) for each in command.params if _is_argument(each)
    ]
    usage = " ".join([*path, *arguments])
    text = " ".join(command.help.partition("Example:")[0].split())
    options = " ".join(f"`{_flag(each)}`" for each in command.params if _is_own(each))
    return f"| `{usage}` | {_plain(text)} | {options} |"


def _is_argument(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Argument)


def _is_own(parameter: click.Parameter) -> bool:
    return not _is_argument(parameter) and not COMMON & set(parameter.opts)


def _flag(option: click.Parameter) -> str:
    return max(option.opts, key=len) + ("…" if option.multiple else "")


def _plain(text: str) -> str:
    return text.replace("|", "\\|")


def page() -> str:
    """The page as it has to be."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}\n{tables()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
