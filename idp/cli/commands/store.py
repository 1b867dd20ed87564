"""`idp store`: reads a whole store, and compacts its file."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click
import msgspec

from idp.cli.commands.backup import counted, counts, json_flag, progress_bar, total
from idp.cli.output import say
from idp.cli.settings import load_for_store, store_flags
from idp.start import exit_codes


@click.group(short_help="The store itself: whether it is whole, and its file.")
def store() -> None:
    """Read the whole store and see whether it is whole, or make its file shorter."""


@store.command()
@store_flags
@json_flag
def verify(as_json: bool, config_file: Path | None, **flags: object) -> None:
    """Read every record, while the service may run: after a restore by the means of a
    database or a disk. --json adds the digests, which are those of a backup of the same records.
    Example: idp store verify
    """
    config = load_for_store(config_file, flags).config

    def verified() -> None:
        from idp.backup import verifying

        with progress_bar(None) as on_progress:
            found = asyncio.run(verifying.verify(config, on_progress))
        about = {"schema": found.schema.version} | counted(found.manifest)
        click.echo(msgspec.json.encode(about) if as_json else "\n".join(counts(found.manifest)))
        say(f"the store is whole: {total(found.manifest)}")

    raise SystemExit(exit_codes.guarded(verified))


@store.command()
@store_flags
@json_flag
def compact(as_json: bool, config_file: Path | None, **flags: object) -> None:
    """Rewrite a SQLite file without free space, and so that it shrinks automatically
    from then on. The service has to be stopped; the disk needs as much room as the file has.
    Example: idp store compact
    """
    config = load_for_store(config_file, flags).config

    def compacted() -> None:
        import storage
        from idp.start import bootstrap

        bootstrap.check_is_there(config.store)
        found = storage.compact(config.store)
        if as_json:
            click.echo(msgspec.json.encode(found))
        before, after = _megabytes(found.bytes_before), _megabytes(found.bytes_after)
        say(f"the file had {before}, and has {after}")

    raise SystemExit(exit_codes.guarded(compacted))


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
