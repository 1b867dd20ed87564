"""`idp audit export`: the options, and the signals that end it."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

import click

from idp.audit.event_types import STREAMS
from idp.cli.backends import BackendLocation, opened
from idp.cli.building import with_location_options
from idp.cli.event_export import state_file
from idp.cli.event_export.exporter import Exporter, ExportOptions
from idp.cli.event_export.line_files import LineFile, Lines, LineStream
from idp.cli.output import say
from idp.cli.running import location_of
from idp.foundation.clock import SystemClock
from idp.foundation.errors import ConfigError
from idp.start import exit_codes

_STANDARD_OUTPUT: Final = "-"
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


@click.command("export", short_help="Every sealed event as lines of JSON, for a collector.")
@click.option(
    "--stream",
    "streams",
    multiple=True,
    type=click.Choice(STREAMS),
    help="Only of this stream; several times for several.",
)
@click.option(
    "--from",
    "start",
    metavar="CURSOR",
    default="oldest",
    help="Where to begin if the state file is not there: a cursor, oldest or latest.",
)
@click.option("--follow", is_flag=True, help="Go on with the events to come.")
@click.option(
    "--to",
    "output",
    metavar="FILE",
    required=True,
    help="The file to append to, or - for standard output.",
)
@click.option(
    "--state",
    "state_path",
    metavar="FILE",
    type=click.Path(path_type=Path),
    required=True,
    help="The file that has the cursor after the last event that was written.",
)
def export(
    streams: Sequence[str],
    start: str,
    follow: bool,
    output: str,
    state_path: Path,
    **given: Any,
) -> None:
    """Append every sealed event as a line of JSON, as GET /v2/events/stream answers it, and store
    the cursor after each portion; with --follow until it is terminated. Of an export that was
    killed, the next one repeats the last events and leaves none out.
    Example: idp audit export --follow --to events.jsonl --state export.state
    """
    options = ExportOptions(",".join(streams), start, follow)
    location = location_of(given)
    raise SystemExit(
        exit_codes.guarded(lambda: asyncio.run(_export(location, output, state_path, options)))
    )


export = with_location_options(export)


async def _export(
    location: BackendLocation, output: str, state_path: Path, options: ExportOptions
) -> None:
    stopping = asyncio.Event()
    with (
        state_file.held(state_path) as state,
        closing(_lines(output, state_path)) as lines,
        stopped_by_signals(stopping.set),
    ):
        exporter = Exporter(lines, state, options, stopping)
        await exporter.run(lambda: opened(location))
    say(f"{exporter.events} events were exported")


def _lines(output: str, state_path: Path) -> Lines:
    """Returns the output of this name. Raises ConfigError if it is the state file, too."""
    if output == _STANDARD_OUTPUT:
        return LineStream(sys.stdout.buffer)
    path = Path(output)
    if path.absolute() == state_path.absolute():
        raise ConfigError(["--to and --state name the same file"])
    return LineFile(path, SystemClock())


@contextmanager
def stopped_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Within the block, the first SIGTERM or Ctrl-C calls `stop`, and the second ends the program
    at once."""
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in _SIGNALS}

    def stopped() -> None:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)
        stop()

    for number in _SIGNALS:
        loop.add_signal_handler(number, stopped)
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)
