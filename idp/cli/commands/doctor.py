"""`idp doctor`: checks whether the installation works and is safe."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec
from msgspec.structs import replace

from idp.cli import given_options
from idp.cli.settings import STORE_OPTIONS, config_for_store, load_for_store, store_flags
from idp.config.loading import LoadedSettings
from idp.foundation.daemon_threads import DaemonThreads
from idp.start import exit_codes

if TYPE_CHECKING:
    from idp.doctor.check import Result


@click.command(short_help="Whether the installation works and is safe.")
@store_flags
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--deep", is_flag=True, help="Check all records, not only the first thousands.")
def doctor(as_json: bool, deep: bool, config_file: Path | None, **flags: object) -> None:
    """Check files, machine, store, public address and registered applications; nothing is changed.

    The service may be running; use its settings. Exits with code 1 if a check fails, and with 69
    if the store can't be reached. Example: idp doctor
    """
    from idp.doctor import report

    loaded = load_for_store(config_file, flags)
    examined: list[Result] = []
    exit_code = exit_codes.guarded(lambda: examined.extend(_examine(loaded, is_deep=deep)))
    if exit_code:
        sys.exit(exit_code)
    results = [_with_store_options(each) for each in examined]
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(report.answer_of(results)), indent=2))
    else:
        click.echo("\n".join(_lines(results)))
    sys.exit(_exit_code(results))


def _examine(loaded: LoadedSettings, *, is_deep: bool) -> list[Result]:
    """Runs the checks and returns their results. Raises ConfigError if the settings contradict the
    store's issuer."""
    from idp.doctor import examination

    async def work() -> list[Result]:
        # A name server that does not answer blocks a thread for longer than the command takes.
        asyncio.get_running_loop().set_default_executor(DaemonThreads())
        return await examination.run(
            loaded.config,
            is_deep=is_deep,
            for_issuer=lambda served: config_for_store(loaded, served),
        )

    return asyncio.run(work())


def _with_store_options(result: Result) -> Result:
    """Returns the result with the command line's store options added to its commands."""
    options = given_options.options(click.get_current_context(), STORE_OPTIONS)
    commands = [
        f"{each} {options}" if options and each.startswith("idp ") else each
        for each in result.finding.commands
    ]
    return replace(result, finding=replace(result.finding, commands=commands))


def _exit_code(results: Sequence[Result]) -> int:
    failed = {each.check.id for each in results if each.finding.state == "fail"}
    if "store.reach" in failed:
        return exit_codes.UNREACHABLE
    return exit_codes.FAILED if failed else exit_codes.OK


def _lines(results: Sequence[Result]) -> Iterator[str]:
    width = max(len(each.check.id) for each in results)
    for each in results:
        finding = each.finding
        names = f": {', '.join(finding.names)}" if finding.names else ""
        ellipsis = ", …" if finding.names and finding.count > len(finding.names) else ""
        yield f"{finding.state:<9}{each.check.id:<{width}}  {finding.sentence}{names}{ellipsis}"
        indent = " " * (11 + width)
        if each.fix:
            yield f"{indent}{each.fix}"
        for command in finding.commands:
            yield f"{indent}$ {command}"
