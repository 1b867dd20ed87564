"""`idp migrate`: converts files of another system into the body of an import."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from idp.cli.output import say
from idp.foundation import durations
from idp.start import exit_codes

if TYPE_CHECKING:
    from idp.transfer.sources.report import Report
    from idp.transfer.sources.source import Source

_MAX_ORG: Final = 200
_MAX_FIELDS: Final = 20
_SWITCH: Final[dict[str, Any]] = {"is_flag": False, "flag_value": "true", "type": click.BOOL}
_FILE: Final = click.Path(path_type=Path)


@click.group(short_help="Files of other systems, made into an import.")
def migrate() -> None:
    """Make the body of an import out of another system's files. Nothing is sent anywhere."""


def _every(command: Callable[..., None]) -> Callable[..., None]:
    """Adds the options that all sources have."""
    options = [
        click.option("--org", "org_id", metavar="ID", required=True,
                     help="The organization that takes them in."),
        click.option("--output", type=_FILE, default="importBody.json", show_default=True,
                     help="Where the body is written, with mode 0600."),
        click.option("--timeout", metavar="DURATION", default="30m", show_default=True,
                     help="How long the import's call may take."),
        click.option("--multiline", default="false", help="Lines that people can read.",
                     **_SWITCH),
        click.option("--report", is_flag=False, flag_value="", metavar="[FILE]",
                     help="Where it is told what does not go along: OUTPUT.report.ndjson."),
        click.option("--keep-attributes", is_flag=True,
                     help="Have attributes go along as metadata."),
        click.option(
            "--keep-incomplete",
            is_flag=True,
            help="Have people go along who have no e-mail address.",
        ),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@migrate.command("auth0", short_help="From Auth0.")
@_every
@click.option(
    "--users",
    type=_FILE,
    default="users.json",
    show_default=True,
    help="What the export job of users wrote.",
)
@click.option(
    "--passwords",
    type=_FILE,
    default="passwords.json",
    show_default=True,
    help="The file of hashes that support sends.",
)
@click.option("--no-passwords", is_flag=True, help="There is no file of hashes.")
@click.option(
    "--email-verified",
    default=None,
    metavar="[BOOLEAN]",
    help="Whether all addresses count as verified; else as Auth0 says.",
    **_SWITCH,
)
def auth0(users: Path, passwords: Path, no_passwords: bool, email_verified: bool | None,
          **given: Any) -> None:  # fmt: skip
    """Make the body of an import out of Auth0's users and password hashes. Example: idp migrate
    auth0 --org 8XkT2v --users users.json --passwords passwords.json --report
    """
    from idp.transfer.sources.auth0 import Auth0

    _run(Auth0(users, None if no_passwords else passwords, email_verified), given)


@migrate.command("keycloak", short_help="From Keycloak.")
@_every
@click.option(
    "--realm",
    type=_FILE,
    default="realm.json",
    show_default=True,
    help="The export of a realm: its file, or the folder of files.",
)
@click.option("--realm-name", metavar="NAME", help="Which one, in a folder of several.")
@click.option(
    "--roles-project", metavar="ID", default="", help="The project whose roles the realm's become."
)
def keycloak(realm: Path, realm_name: str | None, roles_project: str, **given: Any) -> None:
    """Make the body of an import out of a realm export with its users. Example: idp migrate
    keycloak --org 8XkT2v --realm realm.json --report
    """
    from idp.transfer.sources.keycloak import Keycloak

    _run(Keycloak(realm, realm_name), given, roles_project)


@migrate.command("csv", short_help="From a table.")
@_every
@click.option(
    "--users",
    type=_FILE,
    default="users.csv",
    show_default=True,
    help="The table: its first line names the columns.",
)
@click.option(
    "--map", "columns", metavar="COLUMN=FIELD", multiple=True, help="What a column stands for."
)
@click.option("--delimiter", default=",", show_default=True, help="One character, or tab.")
@click.option("--encoding", default="utf-8", show_default=True, help="Such as cp1252.")
def table(users: Path, columns: tuple[str, ...], delimiter: str, encoding: str,
          **given: Any) -> None:  # fmt: skip
    """Make the body of an import out of a table. Example: idp migrate csv --org 8XkT2v --users
    people.csv --delimiter ';' --map mail=email --report
    """
    from idp.transfer.sources.delimited import DelimitedTable

    delimiter = {"tab": "\t", "\\t": "\t"}.get(delimiter, delimiter)
    if len(delimiter) != 1 or delimiter in '"\r\n\0' or not _is_encoding(encoding):
        raise click.UsageError("--delimiter is one character, and --encoding the name of one")
    pairs = dict(_pair(each) for each in columns)
    _run(DelimitedTable(users, given["org_id"], columns=pairs, delimiter=delimiter,
    encoding=encoding), given)  # fmt: skip


@migrate.command("ndjson", short_help="From lines of JSON.")
@_every
@click.option(
    "--users",
    type=_FILE,
    default="users.ndjson",
    show_default=True,
    help="A line for each person, as the import takes one.",
)
def ndjson(users: Path, **given: Any) -> None:
    """Make the body of an import out of lines of JSON. Example: idp migrate ndjson --org 8XkT2v
    --users people.ndjson --report
    """
    from idp.transfer.sources.ndjson import JsonLines

    _run(JsonLines(users, given["org_id"]), given)


def _pair(text: str) -> tuple[str, str]:
    column, _, field = text.rpartition("=")
    if not (column and field):
        raise click.UsageError(f"--map {text} is not COLUMN=FIELD")
    return column, field


def _is_encoding(name: str) -> bool:
    try:
        return codecs.lookup(name)._is_text_encoding
    except LookupError:
        return False


def _run(source: Source, given: Mapping[str, Any], project_id: str = "") -> None:
    """Writes the package and the report, each completely or not at all, and ends the program."""
    from idp.transfer.sources.migration import Migration, MigrationOptions
    from idp.transfer.sources.package_file import PackageFile, drafted
    from idp.transfer.sources.report import Report
    from idp.transfer.sources.source import SourceRefused

    org_id, output, report_option = given["org_id"], given["output"], given["report"]
    timeout = _timeout(given["timeout"])
    if not (0 < len(org_id) <= _MAX_ORG and org_id.isprintable()):
        raise click.UsageError("--org is the id of an organization")
    options = MigrationOptions(
        keeps_attributes=given["keep_attributes"],
        keeps_incomplete=given["keep_incomplete"],
        project_id=project_id,
    )
    report_path = (
        Path(report_option or f"{output}.report.ndjson") if report_option is not None else None
    )
    try:
        with ExitStack() as files:
            report_file = files.enter_context(drafted(report_path)) if report_path else None
            report = Report(report_file, source.reasons)
            package = PackageFile(
                files.enter_context(drafted(output)),
                org_id=org_id, timeout=timeout, is_multiline=given["multiline"],
            )  # fmt: skip
            Migration(package, report, options).run(source)
            package.finish()
    except SourceRefused as error:
        raise click.UsageError(str(error)) from None
    except OSError as error:
        raise click.UsageError(f"{error.filename or output} can't be written: {error.strerror}") \
            from None  # fmt: skip
    _print_counts(report, output, report_path)
    sys.exit(exit_codes.ROW_ERRORS if report.actions["fail"] else exit_codes.OK)


def _timeout(text: str) -> str:
    try:
        duration = durations.parse(text)
    except ValueError:
        raise click.UsageError(f"--timeout {text} is no duration such as 1h30m") from None
    if duration < timedelta(seconds=1) or duration.microseconds:
        raise click.UsageError("--timeout has to be some whole seconds")
    return durations.text(int(duration.total_seconds()))


def _print_counts(report: Report, output: Path, report_path: Path | None) -> None:
    """Prints the counts to stderr."""
    labels = {"create": "in the package", "skip": "nobody's", "fail": "left out"}
    lines = [(labels[action], str(count), "") for action, count in report.actions.items()]
    lines += [
        (f"  {error_code}", str(count), "")
        for error_code, count in sorted(report.problems.items())
    ]
    fields = list(report.fields())
    lines += [(f"dropped {name}", str(each.count), why) for name, why, each in
              fields[:_MAX_FIELDS]]  # fmt: skip
    if len(fields) > _MAX_FIELDS:
        lines.append(("dropped, further fields", str(len(fields) - _MAX_FIELDS), "see --report"))
    width, digits = max(len(each[0]) for each in lines), max(len(each[1]) for each in lines)
    for label, count, why in lines:
        say(f"{label:<{width}}  {count:>{digits}}  {why}".rstrip())
    say(f"{output} is written" + (f", and {report_path}" if report_path else ""))
