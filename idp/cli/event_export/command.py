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
from msgspec import Struct

from idp.audit.event_types import STREAMS
from idp.cli.backends import BackendLocation, open_backend
from idp.cli.building import with_location_options
from idp.cli.event_export import export_metrics, state_file
from idp.cli.event_export.exporter import Exporter, ExportOptions
from idp.cli.event_export.line_files import LineFile, Lines, LineStream
from idp.cli.output import say
from idp.cli.running import location_of
from idp.foundation.clock import SystemClock
from idp.foundation.errors import ConfigError
from idp.start import exit_codes

_STANDARD_OUTPUT: Final = "-"
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class ExportEnds(Struct, frozen=True):
    """Where an export writes: the events, its state, and its metric (ADDRESS:PORT, or None)."""

    output: str
    state: Path
    metrics_listen: str | None


@click.command("export", short_help="Export sealed events as JSON lines.")
@click.option(
    "--stream",
    "streams",
    multiple=True,
    type=click.Choice(STREAMS),
    help="Export only this stream; repeatable.",
)
@click.option(
    "--from",
    "start",
    metavar="CURSOR",
    default="oldest",
    help="Where to begin if there is no state file: a cursor, oldest or latest.",
)
@click.option("--follow", is_flag=True, help="Continue with new events.")
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
    help="The file with the cursor after the last exported event.",
)
@click.option(
    "--metrics-listen",
    metavar="ADDRESS:PORT",
    help="Where Prometheus can scrape when every event was exported.",
)
def export(
    streams: Sequence[str],
    start: str,
    follow: bool,
    output: str,
    state_path: Path,
    metrics_listen: str | None,
    **option_values: Any,
) -> None:
    """Append every sealed event as a line of JSON, as GET /v2/events/stream does, and store the
    cursor after each batch; with --follow until it is terminated. After an export was killed,
    the next one repeats the last events and leaves none out.
    Example: idp audit export --follow --to events.jsonl --state export.state
    """
    options = ExportOptions(",".join(streams), start, follow)
    location = location_of(option_values)
    ends = ExportEnds(output, state_path, metrics_listen)
    raise SystemExit(exit_codes.guarded(lambda: asyncio.run(_export(location, ends, options))))


export = with_location_options(export)


async def _export(location: BackendLocation, ends: ExportEnds, options: ExportOptions) -> None:
    stopping = asyncio.Event()
    with (
        state_file.locked(ends.state) as state,
        closing(_lines(ends.output, ends.state)) as lines,
        export_metrics.serving(ends.metrics_listen, SystemClock()) as record_up_to_date,
        stopped_by_signals(stopping.set),
    ):
        exporter = Exporter(lines, state, options, stopping, record_up_to_date)
        await exporter.run(lambda: open_backend(location))
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
    immediately."""
    loop = asyncio.get_running_loop()
    previous_handlers = {number: signal.getsignal(number) for number in _SIGNALS}

    def on_signal() -> None:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)
        stop()

    for number in _SIGNALS:
        loop.add_signal_handler(number, on_signal)
    try:
        yield
    finally:
        for number, handler in previous_handlers.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)
