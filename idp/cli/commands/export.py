"""`idp export`: writes organizations with all their contents to a file that an import reads."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

import click

from idp.cli import fields
from idp.cli.commands.admin import ACTOR
from idp.cli.settings import store_flags
from idp.cli.working import on_store
from idp.foundation.errors import AlreadyExists
from idp.service import Service

_NO_LIMIT_SECONDS: Final = 7 * 24 * 3600.0
_DRAFT: Final = ".draft"
_ORG: Final = re.compile(r"\borg(?=s?\b)")


@click.command(short_help="Export organizations with their contents.")
@store_flags
@click.option(
    "--org", "orgs", metavar="ID", multiple=True, help="Export only this organization; repeatable."
)
@click.option(
    "--exclude", metavar="ID", multiple=True, help="Leave this organization out; repeatable."
)
@click.option(
    "--with-passwords", is_flag=True, help="Include the hashes of passwords and secrets."
)
@click.option("--with-otp", is_flag=True, help="Include the secrets of authenticator apps.")
@click.option(
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The file to write; the default is stdout.",
)
@click.option("--overwrite", is_flag=True, help="Replace the file if it exists.")
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
    """Write all organizations, or the given ones, as one document that can be imported.
    Example: idp export --with-passwords --with-otp --output everything.json
    """

    destination = "stdout" if output is None else f"file {output.absolute()}"

    async def run(service: Service) -> None:
        from idp.transfer.calls import export_document

        selection = export_document.ExportSelection(
            org_ids=list(orgs),
            excluded_org_ids=list(exclude),
            with_passwords=with_passwords,
            with_otp=with_otp,
        )
        with _target(output, overwrite=overwrite) as target:
            counts = await export_document.write(
                service, ACTOR, selection, target, _NO_LIMIT_SECONDS, destination
            )
        _print_counts(counts)

    on_store(run, config_file, flags)


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
        raise _already_exists(output)
    draft_path = output.with_name(f"{output.name}.{os.getpid()}{_DRAFT}")
    try:
        with os.fdopen(
            os.open(draft_path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb"
        ) as f:
            yield f
            f.flush()
            # On disk before the name exists, so that a crash leaves no partial file.
            os.fsync(f.fileno())
        _publish(draft_path, output, overwrite=overwrite)
    finally:
        draft_path.unlink(missing_ok=True)


def _publish(draft: Path, output: Path, *, overwrite: bool) -> None:
    if overwrite:
        draft.replace(output)
        return
    try:
        os.link(draft, output)  # unlike a rename, a link never replaces a file
    except FileExistsError:
        raise _already_exists(output) from None


def _already_exists(output: Path) -> AlreadyExists:
    return AlreadyExists(f"{output} already exists; --overwrite replaces it")


def _print_counts(counts: Mapping[str, int]) -> None:
    # Each organization has one row `org`.
    text = ", ".join(_counted(*each) for each in counts.items() if each[0] != "org")
    click.echo(f"exported: {text}", err=True)


def _counted(member: str, number: int) -> str:
    """Returns the number of rows in words: `2 lockout policies` for `lockoutPolicy`."""
    noun = _ORG.sub("organization", fields.kebab(member).replace("-", " "))
    noun = fields.singular(noun) if number == 1 else noun.replace("policy", "policies")
    return f"{number} {noun}"
