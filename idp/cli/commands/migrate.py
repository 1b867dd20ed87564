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
_BOOLEAN_OPTION: Final[dict[str, Any]] = {
    "is_flag": False,
    "flag_value": "true",
    "type": click.BOOL,
}
_FILE: Final = click.Path(path_type=Path)


@click.group(short_help="Convert files of other systems for an import.")
def migrate() -> None:
    """Convert files of another system into the body of an import. Nothing is sent."""


def _common_options(command: Callable[..., None]) -> Callable[..., None]:
    """Adds the options that all sources have."""
    options = [
        click.option("--org", "org_id", metavar="ID", required=True,
                     help="The ID of the organization to import into."),
        click.option("--output", type=_FILE, default="importBody.json", show_default=True,
                     help="The file to write (mode 0600)."),
        click.option("--timeout", metavar="DURATION", default="30m", show_default=True,
                     help="The timeout of the import call."),
        click.option("--multiline", default="false", help="Write the JSON with line breaks.",
                     **_BOOLEAN_OPTION),
        click.option("--report", is_flag=False, flag_value="", metavar="[FILE]",
                     help="The report of omitted data; the default is OUTPUT.report.ndjson."),
        click.option("--keep-attributes", is_flag=True,
                     help="Migrate further attributes as metadata."),
        click.option(
            "--keep-incomplete",
            is_flag=True,
            help="Migrate users without an email address.",
        ),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@migrate.command("auth0", short_help="From Auth0.")
@_common_options
@click.option(
    "--users",
    type=_FILE,
    default="users.json",
    show_default=True,
    help="The file of Auth0's users export job.",
)
@click.option(
    "--passwords",
    type=_FILE,
    default="passwords.json",
    show_default=True,
    help="The file of password hashes from Auth0's support.",
)
@click.option("--no-passwords", is_flag=True, help="Migrate without a file of password hashes.")
@click.option(
    "--email-verified",
    default=None,
    metavar="[BOOLEAN]",
    help="Whether all addresses are verified; the default is each user's value in Auth0.",
    **_BOOLEAN_OPTION,
)
def auth0(users: Path, passwords: Path, no_passwords: bool, email_verified: bool | None,
          **option_values: Any) -> None:  # fmt: skip
    """Convert users and password hashes of Auth0 into the body of an import. Example: idp migrate
    auth0 --org 8XkT2v --users users.json --passwords passwords.json --report
    """
    from idp.transfer.sources.auth0 import Auth0

    _run(Auth0(users, None if no_passwords else passwords, email_verified), option_values)


@migrate.command("keycloak", short_help="From Keycloak.")
@_common_options
@click.option(
    "--realm",
    type=_FILE,
    default="realm.json",
    show_default=True,
    help="The export of a realm: a file or a folder.",
)
@click.option("--realm-name", metavar="NAME", help="The realm, if the folder or file has several.")
@click.option(
    "--roles-project", metavar="ID", default="", help="The project that gets the realm's roles."
)
def keycloak(
    realm: Path, realm_name: str | None, roles_project: str, **option_values: Any
) -> None:
    """Convert a realm export with its users into the body of an import. Example: idp migrate
    keycloak --org 8XkT2v --realm realm.json --report
    """
    from idp.transfer.sources.keycloak import Keycloak

    _run(Keycloak(realm, realm_name), option_values, roles_project)


@migrate.command("csv", short_help="From a CSV file.")
@_common_options
@click.option(
    "--users",
    type=_FILE,
    default="users.csv",
    show_default=True,
    help="The CSV file; its first line names the columns.",
)
@click.option(
    "--map", "columns", metavar="COLUMN=FIELD", multiple=True, help="The field of a column."
)
@click.option(
    "--delimiter", default=",", show_default=True, help="The delimiter: one character, or tab."
)
@click.option(
    "--encoding",
    default="utf-8",
    show_default=True,
    help="The encoding of the file, such as cp1252.",
)
def table(users: Path, columns: tuple[str, ...], delimiter: str, encoding: str,
          **option_values: Any) -> None:  # fmt: skip
    """Convert a CSV file into the body of an import. Example: idp migrate csv --org 8XkT2v --users
    people.csv --delimiter ';' --map mail=email --report
    """
    from idp.transfer.sources.delimited import DelimitedTable

    delimiter = {"tab": "\t", "\\t": "\t"}.get(delimiter, delimiter)
    if len(delimiter) != 1 or delimiter in '"\r\n\0' or not _is_encoding(encoding):
        raise click.UsageError(
            "--delimiter must be one character, and --encoding the name of an encoding"
        )
    pairs = dict(_pair(each) for each in columns)
    _run(DelimitedTable(users, option_values["org_id"], columns=pairs, delimiter=delimiter,
    encoding=encoding), option_values)  # fmt: skip


@migrate.command("ndjson", short_help="From JSON lines.")
@_common_options
@click.option(
    "--users",
    type=_FILE,
    default="users.ndjson",
    show_default=True,
    help="The file: a line for each person, in the format of the import.",
)
def ndjson(users: Path, **option_values: Any) -> None:
    """Convert JSON lines into the body of an import. Example: idp migrate ndjson --org 8XkT2v
    --users people.ndjson --report
    """
    from idp.transfer.sources.ndjson import JsonLines

    _run(JsonLines(users, option_values["org_id"]), option_values)


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


def _run(source: Source, option_values: Mapping[str, Any], project_id: str = "") -> None:
    """Writes the package and the report, each completely or not at all, and ends the program."""
    from idp.transfer.sources.migration import Migration, MigrationOptions
    from idp.transfer.sources.package_file import PackageFile, atomic_writer
    from idp.transfer.sources.report import Report
    from idp.transfer.sources.source import SourceRefused

    org_id, output, report_option = (
        option_values["org_id"],
        option_values["output"],
        option_values["report"],
    )
    timeout = _timeout(option_values["timeout"])
    if not (0 < len(org_id) <= _MAX_ORG and org_id.isprintable()):
        raise click.UsageError("--org must be the ID of an organization")
    options = MigrationOptions(
        keeps_attributes=option_values["keep_attributes"],
        keeps_incomplete=option_values["keep_incomplete"],
        project_id=project_id,
    )
    report_path = (
        Path(report_option or f"{output}.report.ndjson") if report_option is not None else None
    )
    try:
        with ExitStack() as files:
            report_file = files.enter_context(atomic_writer(report_path)) if report_path else None
            report = Report(report_file, source.reasons)
            package = PackageFile(
                files.enter_context(atomic_writer(output)),
                org_id=org_id, timeout=timeout, is_multiline=option_values["multiline"],
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
        raise click.UsageError(f"--timeout {text} is not a duration such as 1h30m") from None
    if duration < timedelta(seconds=1) or duration.microseconds:
        raise click.UsageError("--timeout must be whole seconds")
    return durations.text(int(duration.total_seconds()))


def _print_counts(report: Report, output: Path, report_path: Path | None) -> None:
    """Prints the counts to stderr."""
    labels = {"create": "in the package", "skip": "skipped", "fail": "left out"}
    lines = [(labels[action], str(count), "") for action, count in report.actions.items()]
    lines += [
        (f"  {error_code}", str(count), "")
        for error_code, count in sorted(report.problems.items())
    ]
    fields = list(report.fields())
    lines += [(f"dropped {name}", str(each.count), reason) for name, reason, each in
              fields[:_MAX_FIELDS]]  # fmt: skip
    if len(fields) > _MAX_FIELDS:
        lines.append(("dropped, further fields", str(len(fields) - _MAX_FIELDS), "see --report"))
    width, digits = max(len(each[0]) for each in lines), max(len(each[1]) for each in lines)
    for label, count, reason in lines:
        say(f"{label:<{width}}  {count:>{digits}}  {reason}".rstrip())
    say(f"{output} is written" + (f", and {report_path}" if report_path else ""))
