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
    help="Leave out passwords that were seen fewer times.",
)
@click.option("--overwrite", is_flag=True, help="Replace the file if it exists.")
def compact(source: Path, target: Path, min_count: int, overwrite: bool) -> None:
    """Write a list of breached passwords in the compact form of the setting breached_passwords.

    IN is a sorted text file of SHA1:COUNT lines, or a directory of range files.

    Example: idp passwords compact pwned-passwords.txt pwned.idpb --min-count 10
    """
    from tqdm import tqdm

    from idp.foundation.randomness import SystemRandom
    from idp.passwords import breached, compaction

    if target.exists() and not overwrite:  # checked before minutes of work
        raise _already_exists(target)
    try:
        entries = breached.open_list(source, min_count).entries()
        # With `disable=None` there is no bar unless stderr is a terminal.
        with tqdm(entries, unit=" passwords", unit_scale=True, disable=None) as displayed_entries:
            draft_id = SystemRandom().id()
            count = compaction.compact(displayed_entries, target, draft_id, replaces=overwrite)
    except breached.UnusableList as error:
        raise click.UsageError(f"{source} can't be used: {error}") from error
    except FileExistsError as error:
        raise _already_exists(target) from error
    except OSError as error:
        raise click.ClickException(f"{error.filename or target}: {error.strerror}") from error
    click.echo(f"{count} passwords in {target}")


def _already_exists(target: Path) -> click.ClickException:
    return click.ClickException(f"{target} already exists; --overwrite replaces it")
