"""`idp passwords`: lists of breached passwords."""

from __future__ import annotations

from pathlib import Path

import click


@click.group(short_help="Lists of breached passwords.")
def passwords() -> None:
    """Lists of breached passwords."""


@passwords.command()
@click.argument("source", metavar="IN", type=click.Path(path_type=Path))
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@click.option(
    "--min-count",
    metavar="N",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Leave out passwords that were seen less often.",
)
def compact(source: Path, target: Path, min_count: int) -> None:
    """Write a list of breached passwords in the compact form of the setting breached_passwords.

    IN is a sorted text file of SHA1:COUNT lines, or a directory of range files.

    Example: idp passwords compact pwned-passwords.txt pwned.idpb --min-count 10
    """
    from tqdm import tqdm

    from idp.ids import SystemRandom
    from idp.passwords import breached, compaction

    try:
        entries = breached.open_list(source, min_count).entries()
        with tqdm(entries, unit=" passwords", unit_scale=True) as counted:
            count = compaction.compact(counted, target, SystemRandom().id())
    except breached.Unusable as error:
        raise click.UsageError(f"{source} can't be used: {error}") from error
    except OSError as error:
        raise click.ClickException(f"{error.filename or target}: {error.strerror}") from error
    click.echo(f"{count} passwords in {target}")
