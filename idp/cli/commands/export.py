"""`idp export`: writes organizations with all their contents to a file that an import reads."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

import click

from idp.cli.commands.admin import ACTOR
from idp.cli.settings import store_flags
from idp.cli.working import on_store
from idp.foundation.errors import AlreadyExists
from idp.service import Service

_ENDLESS_SECONDS: Final = 7 * 24 * 3600.0
_DRAFT: Final = ".draft"


@click.command(short_help="Organizations with all that is in them, as a file.")
@store_flags
@click.option("--org", "orgs", metavar="ID", multiple=True, help="This one alone; repeatable.")
@click.option("--exclude", metavar="ID", multiple=True, help="Not this one; repeatable.")
@click.option("--with-passwords", is_flag=True, help="With the hashes of passwords and secrets.")
@click.option("--with-otp", is_flag=True, help="With the secrets of authenticator apps.")
@click.option("--output", metavar="FILE", type=click.Path(path_type=Path), help="Else stdout.")
@click.option("--overwrite", is_flag=True, help="Replace the file if it is there.")
def export(
    orgs: tuple[str, ...],
    exclude: tuple[str, ...],
    with_passwords: bool,
    with_otp: bool,
    output: Path | None,
    overwrite: bool,
    config_file: Path | None,
    **flags: object,
) -> None:
    """Write all organizations, or those that are named, as one document that an import takes.
    Example: idp export --with-passwords --with-otp --output everything.json
    """

    goes_to = "stdout" if output is None else f"file {output.absolute()}"

    async def exported(service: Service) -> None:
        from idp.transfer.calls import export_document

        selection = export_document.ExportSelection(
            org_ids=list(orgs),
            excluded_org_ids=list(exclude),
            with_passwords=with_passwords,
            with_otp=with_otp,
        )
        with _target(output, overwrite=overwrite) as target:
            counts = await export_document.write(
                service, ACTOR, selection, target, _ENDLESS_SECONDS, goes_to
            )
        _print_counts(counts)

    on_store(exported, config_file, flags)


@contextmanager
def _target(output: Path | None, *, overwrite: bool) -> Iterator[BinaryIO]:
    """Opens a draft that becomes the output file once it is complete; only its owner may read it.

    Raises AlreadyExists.
    """
    if output is None:
        with tempfile.TemporaryFile() as draft:
            yield draft
            draft.seek(0)
            shutil.copyfileobj(draft, sys.stdout.buffer)
        return
    if output.exists() and not overwrite:
        raise _exists_already(output)
    draft_path = output.with_name(f"{output.name}.{os.getpid()}{_DRAFT}")
    try:
        with os.fdopen(
            os.open(draft_path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb"
        ) as f:
            yield f
            f.flush()
            # On disk before the name exists, so that a crash leaves no partial file.
            os.fsync(f.fileno())
        _put(draft_path, output, overwrite=overwrite)
    finally:
        draft_path.unlink(missing_ok=True)


def _put(draft: Path, output: Path, *, overwrite: bool) -> None:
    if overwrite:
        draft.replace(output)
        return
    try:
        os.link(draft, output)  # unlike a rename, a link never replaces a file
    except FileExistsError:
        raise _exists_already(output) from None


def _exists_already(output: Path) -> AlreadyExists:
    return AlreadyExists(f"{output} is there already; --overwrite replaces it")


def _print_counts(counts: Mapping[str, int]) -> None:
    text = ", ".join(f"{number} {name}" for name, number in counts.items())
    click.echo(f"exported: {text}", err=True)
