"""`idp backup`, `idp restore` and `idp copy-store`: save, restore and copy all data of an
installation."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec
from tqdm import tqdm

from idp.cli.output import say
from idp.cli.passphrases import passphrase_flag, read_passphrase
from idp.cli.settings import load_for_store, store_flags
from idp.start import exit_codes

if TYPE_CHECKING:
    from idp.backup.contents import Head, Manifest

_FILE: Final = click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
json_flag: Final = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_MAKE: Final = "make"
_ADD: Final = "add"
_INTO: Final = "--into"


class _Backup(click.Group):
    """Makes `idp backup FILE` mean `idp backup make FILE`, and with --into `idp backup add`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, *self.get_help_option_names(ctx)):
            is_of_series = any(each.partition("=")[0] == _INTO for each in args)
            args = [_ADD if is_of_series else _MAKE, *args]
        return super().parse_args(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        by_default = self.commands[_ADD if cmd_name == _INTO else _MAKE]
        return super().get_command(ctx, cmd_name) or by_default


@click.group(cls=_Backup, short_help="Backups of everything.")
def backup() -> None:
    """All that the service is, in one file that only its passphrase opens; see docs/backup.md.

    `idp backup FILE` is `idp backup make FILE`; `idp backup --into DIR` is `idp backup add`.
    """


@backup.command(_MAKE)
@store_flags
@passphrase_flag
@click.option("--overwrite", is_flag=True, help="Replace the file if it is there.")
@json_flag
@_FILE
def make(
    file: Path,
    passphrase_file: Path | None,
    overwrite: bool,
    as_json: bool,
    config_file: Path | None,
    **flags: object,
) -> None:
    """Write everything, signing keys and master key included, into an encrypted file; the
    service may go on meanwhile. Example: idp backup make monday.idp --passphrase-file secret
    """
    config = load_for_store(config_file, flags).config

    def made() -> None:
        from idp.backup import stores

        passphrase = read_passphrase(passphrase_file, confirms=True)
        with progress_bar(None) as on_progress:
            work = stores.make(
                config, file, passphrase, replaces=overwrite, on_progress=on_progress
            )
            manifest = asyncio.run(work)
        if as_json:
            click.echo(msgspec.json.encode(counted(manifest)))
        say(f"{file} has {total(manifest)}")

    raise SystemExit(exit_codes.guarded(made))


def _retention(ctx: click.Context, parameter: click.Parameter, text: str | None) -> Any:
    from idp.backup import retention

    try:
        return None if text is None else retention.parse(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@backup.command(_ADD)
@store_flags
@click.option(
    "--passphrase-file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    required=True,
    help="File with the passphrase.",
)
@click.option(
    _INTO,
    "directory",
    metavar="DIR",
    type=click.Path(path_type=Path),
    required=True,
    help="The directory of the series; it has to exist.",
)
@click.option(
    "--keep",
    metavar="LIST",
    callback=_retention,
    help="How many of the latest hours, days, weeks, months and years keep a backup: 7d,4w,12m."
    " Without it, none is removed.",
)
@json_flag
def add(
    directory: Path,
    passphrase_file: Path,
    keep: dict[str, int] | None,
    as_json: bool,
    config_file: Path | None,
    **flags: object,
) -> None:
    """Write a backup into a directory, verify it, and then remove those that --keep does not
    keep; for a timer. Ends with code 75 when another one is under way there.
    Example: idp backup add --into /var/backups/idp --keep 7d,4w,12m --passphrase-file secret
    """
    config = load_for_store(config_file, flags).config

    def added() -> None:
        from idp.backup import series

        passphrase = read_passphrase(passphrase_file)
        with progress_bar(None) as on_progress:
            done = asyncio.run(
                series.add(config, directory, passphrase, keep=keep, on_progress=on_progress)
            )
        if as_json:
            about = {"file": str(done.path), "removed": done.removed}
            click.echo(msgspec.json.encode(about | counted(done.manifest)))
        say(f"{done.path} is whole: {total(done.manifest)}")
        for name in done.removed:
            say(f"removed {name}")

    raise SystemExit(exit_codes.guarded(added))


@backup.command()
@passphrase_flag
@json_flag
@_FILE
def verify(file: Path, passphrase_file: Path | None, as_json: bool) -> None:
    """Read a backup to its end, and print what is in it, if it can be restored by this program.
    The last lines are anchors of the audit log, for idp audit verify --anchor.
    Example: idp backup verify monday.idp --passphrase-file secret
    """

    def verified() -> None:
        from idp.backup import stores

        with stores.verified(file, read_passphrase(passphrase_file)) as backup_file:
            head, manifest = backup_file.head, backup_file.manifest
            anchors = backup_file.anchors
        if as_json:
            click.echo(msgspec.json.encode(_description(manifest, head) | {"anchors": anchors}))
        else:
            lines = [msgspec.json.encode(each).decode() for each in anchors]
            click.echo("\n".join([*counts(manifest), *lines]))
        say(f"{file} is whole: {total(manifest)}, made at {_instant(head)}")

    raise SystemExit(exit_codes.guarded(verified))


@click.command(short_help="Restore a backup into an empty store.")
@store_flags
@passphrase_flag
@click.option(
    "--invalidate-tokens",
    is_flag=True,
    help="End every session and token that was issued before.",
)
@_FILE
def restore(
    file: Path,
    passphrase_file: Path | None,
    invalidate_tokens: bool,
    config_file: Path | None,
    **flags: object,
) -> None:
    """Bring everything that a backup has into an empty store, SQLite or MongoDB, and the master
    key into the data directory. Example: idp restore monday.idp --data ./idp-data
    """
    config = load_for_store(config_file, flags).config

    def restored() -> None:
        from idp.backup import stores

        passphrase = read_passphrase(passphrase_file)
        with (
            stores.verified(file, passphrase) as backup_file,
            progress_bar(backup_file.manifest.total) as on_progress,
        ):
            asyncio.run(
                stores.restore(
                    config, backup_file, invalidates=invalidate_tokens, on_progress=on_progress
                )
            )
        say(f"restored {file}, the state of {_instant(backup_file.head)}")
        if not invalidate_tokens:
            say(_REVIVED)

    raise SystemExit(exit_codes.guarded(restored))


_REVIVED: Final = (
    "sessions and tokens count as they did then. If the service went on after that, some ended"
    " since: restore with --invalidate-tokens"
)


@click.command("copy-store", short_help="Copy a store into an empty one.")
@click.option("--from", "source", metavar="URL", required=True, help="The store to copy.")
@click.option("--to", "target", metavar="URL", required=True, help="An empty store.")
def copy_store(source: str, target: str) -> None:
    """Copy everything of a store, of which the service was stopped, into an empty one.
    Example: idp copy-store --from sqlite:///idp-data/idp.sqlite3 --to mongodb://db1/idp
    """

    def copied() -> None:
        from idp.backup import stores

        with progress_bar(None) as on_progress:
            asyncio.run(stores.copy(source, target, on_progress))
        say("copied; the master key is the same as before")

    raise SystemExit(exit_codes.guarded(copied))


@contextmanager
def progress_bar(total: int | None) -> Iterator[Callable[[int], object]]:
    """Yields a function that takes how many more records are done; shows a bar on a terminal."""
    with tqdm(total=total, unit=" records", file=sys.stderr, disable=None, leave=False) as bar:
        yield bar.update


def counted(manifest: Manifest) -> dict[str, Any]:
    """Returns the counts and digests of a manifest, as they are printed as JSON."""
    return {"records": manifest.total, "collections": manifest.collections}


def _description(manifest: Manifest, head: Head) -> dict[str, Any]:
    about = {"madeAt": head.made_at, "program": head.program, "schema": head.schema.version}
    return about | counted(manifest)


def counts(manifest: Manifest) -> list[str]:
    """Returns the lines of a manifest for people: a collection and its number of records."""
    rows = manifest.collections.items()
    width = max((len(name) for name, _ in rows), default=0)
    return [f"{name:<{width}}  {tally.count}" for name, tally in rows]


def total(manifest: Manifest) -> str:
    """Returns how many records of how many collections a manifest has, in words."""
    return f"{manifest.total} records of {len(manifest.collections)} collections"


def _instant(head: Head) -> str:
    return head.made_at.isoformat(timespec="seconds")
