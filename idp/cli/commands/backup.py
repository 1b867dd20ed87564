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
        default_command = self.commands[_ADD if cmd_name == _INTO else _MAKE]
        return super().get_command(ctx, cmd_name) or default_command


@click.group(cls=_Backup, short_help="Create and verify backups.")
def backup() -> None:
    """Back up all data of the service into one encrypted file; see docs/how-to/backup.md.

    `idp backup FILE` is `idp backup make FILE`; `idp backup --into DIR` is `idp backup add`.
    """


@backup.command(_MAKE)
@store_flags
@passphrase_flag
@click.option("--overwrite", is_flag=True, help="Replace the file if it exists.")
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
    """Write all data, including signing keys and master key, into an encrypted file; the
    service may keep running.
    Example: idp backup make monday.idp --passphrase-file secret
    """
    config = load_for_store(config_file, flags).config

    def run() -> None:
        from idp.backup import stores

        passphrase = read_passphrase(passphrase_file, confirms=True)
        with progress_bar(None) as on_progress:
            work = stores.make(
                config, file, passphrase, replaces=overwrite, on_progress=on_progress
            )
            manifest = asyncio.run(work)
        if as_json:
            click.echo(msgspec.json.encode(manifest_json(manifest)))
        say(f"{file} has {total(manifest)}")

    raise SystemExit(exit_codes.guarded(run))


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
    help="The file with the passphrase.",
)
@click.option(
    _INTO,
    "directory",
    metavar="DIR",
    type=click.Path(path_type=Path),
    required=True,
    help="The directory of the backups; it must exist.",
)
@click.option(
    "--keep",
    metavar="LIST",
    callback=_retention,
    help=(
        "For how many recent hours, days, weeks, months and years to keep a backup, such as"
        " 7d,4w,12m. Without it, none is removed."
    ),
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
    """Write a backup into a directory, verify it, and then remove backups by --keep; for a
    timer. Exits with code 75 if another backup is running there.
    Example: idp backup add --into /var/backups/idp --keep 7d,4w,12m --passphrase-file secret
    """
    config = load_for_store(config_file, flags).config

    def run() -> None:
        from idp.backup import series

        passphrase = read_passphrase(passphrase_file)
        with progress_bar(None) as on_progress:
            result = asyncio.run(
                series.add(config, directory, passphrase, keep=keep, on_progress=on_progress)
            )
        if as_json:
            about = {"file": str(result.path), "removed": result.removed}
            click.echo(msgspec.json.encode(about | manifest_json(result.manifest)))
        say(f"{result.path} is whole: {total(result.manifest)}")
        for name in result.removed:
            say(f"removed {name}")

    raise SystemExit(exit_codes.guarded(run))


@backup.command()
@passphrase_flag
@json_flag
@_FILE
def verify(file: Path, passphrase_file: Path | None, as_json: bool) -> None:
    """Verify that this program can restore a backup, and print its contents. The last lines are
    anchors of the audit log, for idp audit verify --anchor.
    Example: idp backup verify monday.idp --passphrase-file secret
    """

    def run() -> None:
        from idp.backup import stores

        with stores.verified(file, read_passphrase(passphrase_file)) as backup_file:
            head, manifest = backup_file.head, backup_file.manifest
            anchors = backup_file.anchors
        if as_json:
            click.echo(msgspec.json.encode(_description(manifest, head) | {"anchors": anchors}))
        else:
            lines = [msgspec.json.encode(each).decode() for each in anchors]
            click.echo("\n".join([*count_lines(manifest), *lines]))
        say(f"{file} is whole: {total(manifest)}, made at {_instant(head)}")

    raise SystemExit(exit_codes.guarded(run))


@click.command(short_help="Restore a backup into an empty store.")
@store_flags
@passphrase_flag
@click.option(
    "--invalidate-tokens",
    is_flag=True,
    help="End all sessions and revoke all tokens of the backup.",
)
@_FILE
def restore(
    file: Path,
    passphrase_file: Path | None,
    invalidate_tokens: bool,
    config_file: Path | None,
    **flags: object,
) -> None:
    """Restore a backup into an empty store, SQLite or MongoDB, and its master key into the data
    directory. Example: idp restore monday.idp --data ./idp-data
    """
    config = load_for_store(config_file, flags).config

    def run() -> None:
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
            say(_TOKENS_VALID_AGAIN)

    raise SystemExit(exit_codes.guarded(run))


_TOKENS_VALID_AGAIN: Final = (
    "the sessions and tokens of the backup are valid again, including those that have ended"
    " since. To end all of them, restore with --invalidate-tokens"
)


@click.command("copy-store", short_help="Copy a store into an empty one.")
@click.option("--from", "source", metavar="URL", required=True, help="The store to copy.")
@click.option("--to", "target", metavar="URL", required=True, help="An empty store.")
def copy_store(source: str, target: str) -> None:
    """Copy all records of a store into an empty one. The service must be stopped.
    Example: idp copy-store --from sqlite:///idp-data/idp.sqlite3 --to mongodb://db1/idp
    """

    def run() -> None:
        from idp.backup import stores

        with progress_bar(None) as on_progress:
            asyncio.run(stores.copy(source, target, on_progress))
        say(
            "copied; the master key is the same as before. If the service was running, what it has"
            " stored since the copy began may be missing: stop it, and copy again"
        )

    raise SystemExit(exit_codes.guarded(run))


@contextmanager
def progress_bar(total: int | None) -> Iterator[Callable[[int], object]]:
    """Yields a function that is called with the number of further records; displays a bar on a
    terminal."""
    with tqdm(total=total, unit=" records", file=sys.stderr, disable=None, leave=False) as bar:
        yield bar.update


def manifest_json(manifest: Manifest) -> dict[str, Any]:
    """Returns the counts and digests of a manifest, as they are printed as JSON."""
    return {"records": manifest.total, "collections": manifest.collections}


def _description(manifest: Manifest, head: Head) -> dict[str, Any]:
    about = {"madeAt": head.made_at, "program": head.program, "schema": head.schema.version}
    return about | manifest_json(manifest)


def count_lines(manifest: Manifest) -> list[str]:
    """Returns the lines of a manifest for people: a collection and its number of records."""
    rows = manifest.collections.items()
    width = max((len(name) for name, _ in rows), default=0)
    return [f"{name:<{width}}  {tally.count}" for name, tally in rows]


def total(manifest: Manifest) -> str:
    """Returns the numbers of records and collections of a manifest, in words."""
    return f"{manifest.total} records of {len(manifest.collections)} collections"


def _instant(head: Head) -> str:
    return head.made_at.isoformat(timespec="seconds")
