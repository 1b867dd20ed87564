"""`idp doctor`: whether the installation works and is safe."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from idp import exits
from idp.cli.settings import load, store_flags

if TYPE_CHECKING:
    from idp.doctor.check import Result


@click.command(short_help="Whether the installation works and is safe.")
@store_flags
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--deep", is_flag=True, help="Look at every record, not at the first thousands.")
def doctor(as_json: bool, deep: bool, config_file: Path | None, **flags: object) -> None:
    """Check files, machine, store, public address and what is registered; change nothing.

    It works beside a running service, with the same settings. Ends with code 1 when a check
    fails, with 69 when the store can't be reached. Example: idp doctor
    """
    from idp.doctor import examination, report

    config = load(config_file, flags).config
    results = asyncio.run(examination.of(config, is_deep=deep))
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(report.shown(results)), indent=2))
    else:
        click.echo("\n".join(_lines(results)))
    sys.exit(_code(results))


def _code(results: Sequence[Result]) -> int:
    failed = {each.check.id for each in results if each.finding.state == "fail"}
    if "store.reach" in failed:
        return exits.UNREACHABLE
    return exits.FAILED if failed else exits.OK


def _lines(results: Sequence[Result]) -> Iterator[str]:
    width = max(len(each.check.id) for each in results)
    for each in results:
        finding = each.finding
        named = f": {', '.join(finding.names)}" if finding.names else ""
        more = ", …" if finding.names and finding.count > len(finding.names) else ""
        yield f"{finding.state:<9}{each.check.id:<{width}}  {finding.found}{named}{more}"
        indent = " " * (11 + width)
        if each.todo:
            yield f"{indent}{each.todo}"
        for command in finding.commands:
            yield f"{indent}$ {command}"
