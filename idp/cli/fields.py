"""Turns the fields of a request into options of a command, from the request's types.

`redirectUris` becomes `--redirect-uri`, which may be repeated; `human.userName` becomes
`--user-name`. Secrets and long values are read from files and never appear on a command line.
"""

from __future__ import annotations

import base64
import re
import sys
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, get_args, get_origin

import click
from msgspec import Struct, structs

from idp.cli.document import Document
from idp.config import loading as settings
from idp.foundation import durations
from idp.foundation.clock import Clock
from idp.foundation.errors import FieldProblem, IdpError, InvalidArgument, Taken
from idp.management.projects.registered_keys import PublicKey
from idp.schema.field_rules import Base64, Instant, NotYet, OneOf
from idp.schema.reading import Request, declared

if TYPE_CHECKING:
    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType  # generic since click 8.4

Kind = Literal[
    "text",
    "switch",
    "list",
    "file",
    "secret",
    "expiry",
    "presence",
    "json",
    "pattern",
    "past_instant",
]

# Each filter has an option of its own (`idp/cli/queries.py`), and pages are read by cursor.
_NOT_OFFERED: Final = (("queries",), ("query", "offset"))
_SECRETS: Final = (*("password", "newPassword", "hash", "currentPassword", "clientSecret"),)
_PAST_INSTANTS: Final = ("from", "since", "to", "until")  # these are in the past
_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_INDEX: Final = re.compile(r"\[\d+\]")
_TIME: Final = ("is not a timestamp", "is neither a duration such as 24h or 7d, nor a timestamp")
_ORG_HEADER: Final = re.compile(r"x-[a-z0-9-]+-orgid")
_DAYS: Final = re.compile(r"([1-9][0-9]{0,4})d")


class FieldOption(Struct, frozen=True, kw_only=True):
    """A field of a request for which a command has an option.

    `path` is the field's place in the body, and `kind` is how a value is given. `names` are the
    allowed values, empty if they are not limited. `is_required` means that the body needs the
    field wherever the object that contains it is present.
    """

    path: tuple[str, ...]
    kind: Kind
    is_required: bool
    names: tuple[str, ...] = ()

    @property
    def dotted(self) -> str:
        return ".".join(self.path)

    def flag(self, name: str) -> str:
        """Returns the option on the command line, for its `name`."""
        return f"--{name}-file" if self.kind == "secret" else f"--{name}"


def fields_of(
    kind: type[Request], parent: tuple[str, ...] = (), *, is_required: bool = True
) -> Iterator[FieldOption]:
    """Yields the fields of the request struct `kind`, and of the objects in it, that a command can
    set, in their order. Fields with only one allowed value are left out.

    `parent` is the path of an inner object, and `is_required` whether the body needs that object.
    """
    for each in declared(kind):
        path, is_needed = (*parent, each.wire_name), is_required and each.is_required
        if isinstance(each.rule, NotYet) or path in _NOT_OFFERED:
            continue
        if is_request(each.type) and declared(each.type):
            yield from fields_of(each.type, path, is_required=is_needed)
            continue
        option_kind = _kind(path, each.type, each.rule)
        names = _allowed_names(each.type, each.rule)
        if len(names) == 1:
            continue  # only one value is allowed
        yield FieldOption(path=path, kind=option_kind, is_required=is_needed, names=names)


def is_request(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Request)


def _kind(path: tuple[str, ...], hint: Any, rule: Any) -> Kind:
    if get_origin(hint) is list:
        return "json" if is_request(get_args(hint)[0]) else "list"
    if is_request(hint):
        return "presence"
    if path[-1] in _SECRETS or path[-2:] == ("hashedPassword", "value"):
        return "secret"
    if isinstance(rule, (Base64, PublicKey)):
        return "file"
    if isinstance(rule, Instant):
        return "past_instant" if path[-1] in _PAST_INSTANTS else "expiry"
    return "switch" if hint is bool else "text"


def _allowed_names(hint: Any, rule: Any) -> tuple[str, ...]:
    if get_origin(hint) is list:
        (item,) = get_args(hint)
        rules = [each for each in get_args(item)[1:] if isinstance(each, OneOf)]
        return rules[0].names if rules else ()
    if isinstance(rule, OneOf):
        return rule.names
    return get_args(hint) if get_origin(hint) is Literal else ()


def merged(field: FieldOption | None, other: FieldOption) -> FieldOption:
    """Returns one option for a field that several operations of a command have: it allows the
    values of `field` and `other`, and requires one only if both do.
    """
    if field is None:
        return other
    names = tuple(dict.fromkeys(field.names + other.names))
    return structs.replace(other, names=names, is_required=field.is_required and other.is_required)


def option_name(field: FieldOption) -> str:
    """Returns the name that a field's option has by default, without its dashes: `redirect-uri`,
    `email-verified`.
    """
    name = singular(field.path[-1]) if field.kind in ("list", "json") else field.path[-1]
    return kebab(name).removeprefix("is-")


def parameter_name(name: str) -> str:
    """Returns the Python parameter name under which click passes the value of the path parameter
    `name` to the command: `at_project_id` for `projectId`.
    """
    return "at_" + kebab(name).replace("-", "_")


def path_option(name: str) -> str:
    """Returns the option for a path parameter: `--project` for `projectId`."""
    return f"--{kebab(name.removesuffix('Id'))}"


def kebab(name: str) -> str:
    return _WORD.sub("-", name).lower()


def singular(name: str) -> str:
    if name.endswith("ies"):
        return name[:-3] + "y"
    return name.removesuffix("s")


def option(field: FieldOption, name: str, help_text: str = "") -> click.Option:
    """Returns the click option `--name` of a field. Without `help_text` it has the help text of
    the field's kind.

    The option is never required by click: the service checks that, as for every client.
    """
    label = name.replace("-", "_")
    match field.kind:
        case "switch":
            return click.Option([f"--{name}/--no-{name}", label], default=None, help=help_text)
        case "presence":
            return click.Option([f"--{name}", label], is_flag=True, default=None, help=help_text)
        case "secret":
            text = help_text or "The file with the value, or - for stdin."
            return click.Option([field.flag(name), label], metavar="FILE", help=text)
        case "file":
            return click.Option(
                [f"--{name}", label], metavar="FILE", help=help_text or "The file, or - for stdin."
            )
        case "expiry":
            text = help_text or "When it expires: a duration such as 24h or 7d, or a timestamp."
            return click.Option(
                [f"--{name}", label], metavar="DURATION", type=_Expiry(), help=text
            )
        case "past_instant":
            text = help_text or "A duration ago such as 24h or 7d, or a timestamp."
            return click.Option(
                [f"--{name}", label], metavar="DURATION", type=_Expiry(), help=text
            )
        case "json":
            return click.Option(
                [f"--{name}", label], multiple=True, metavar="JSON", type=_Json(), help=help_text
            )
    kind: _ParamType = _Name(field.names) if field.names else click.STRING
    is_list = field.kind == "list"
    return click.Option([f"--{name}", label], multiple=is_list, type=kind, help=help_text)


def value_of(field: FieldOption, value: Any, clock: Clock) -> Any:
    """Returns the value of a field for the body, from its value on the command line: reads
    files, and turns durations into instants by `clock`. Raises click.UsageError.
    """
    if field.kind == "presence":
        return {}
    if field.kind == "secret":
        return read_secret(value)
    if field.kind == "file":
        return base64.b64encode(read_data(value)).decode()
    if isinstance(value, timedelta):
        try:
            return instant(clock.now() + (value if field.kind == "expiry" else -value))
        except OverflowError:
            raise click.UsageError("the timestamp is out of range") from None
    return list(value) if field.kind in ("list", "json") else value


def name_options(error: IdpError, options: Mapping[str, FieldOption]) -> None:
    """Replaces the fields that the error names by the command's options for them, and says what
    these accept."""
    by_path = {each.dotted: each.flag(name) for name, each in options.items()}
    if isinstance(error, InvalidArgument | Taken):
        error.problems = tuple(_of_option(each, by_path) for each in error.problems)
    elif _ORG_HEADER.fullmatch(error.field):
        error.field = "--org"


def _of_option(problem: FieldProblem, by_path: Mapping[str, str]) -> FieldProblem:
    flag = by_path.get(_INDEX.sub("", problem.field))
    if flag is None:
        return problem
    index = problem.field[problem.field.rindex("[") :] if problem.field.endswith("]") else ""
    return problem._replace(field=flag + index, message=problem.message.replace(*_TIME))


def put(document: Document, field: FieldOption, value: Any) -> None:
    """Sets the field in the document, and creates the objects that contain it as needed."""
    *parents, last = field.path
    for name in parents:
        document = document.setdefault(name, {})
    document[last] = value


def instant(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read_secret(file: str) -> str:
    """Returns the content of a file, or of stdin for `-`, without its line end.

    Raises click.UsageError.
    """
    text = read_data(file).decode("utf-8", "surrogateescape")
    return text.removesuffix("\n").removesuffix("\r")


def read_data(file: str) -> bytes:
    """Returns the content of a file, or of stdin for `-`. Raises click.UsageError."""
    if file == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise click.UsageError(f"{file} can't be read: {error.strerror}") from None


def password_of_environment() -> str | None:
    """Returns the password in the environment variable IDP_PASSWORD, or None."""
    return settings.from_environment(settings.PASSWORD_VARIABLE)


class _Name(_ParamType):
    """A name of the API, in full or without the prefix that all names share: `web`."""

    name = "name"

    def __init__(self, names: tuple[str, ...]) -> None:
        self.by_short = short_names(names)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return f"[{'|'.join(self.by_short)}]" if len(self.by_short) < 8 else "NAME"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        return self.by_short.get(str(value).lower(), str(value))

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[Any]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(each) for each in self.by_short if each.startswith(incomplete)]


def short_names(names: tuple[str, ...]) -> Mapping[str, str]:
    """Returns the names of an enumeration by short forms without their common prefix: `web` for
    OIDC_APP_TYPE_WEB.
    """
    prefix = ""
    if len(names) > 1 and all("_" in name for name in names):
        first, last = min(names), max(names)
        common = next((n for n, (a, b) in enumerate(zip(first, last)) if a != b), len(first))  # noqa: B905
        prefix = first[: first.rfind("_", 0, common) + 1]
    return {name.removeprefix(prefix).lower().replace("_", "-"): name for name in names}


class _Expiry(_ParamType):
    """A duration from now, or an instant."""

    name = "duration"

    def convert(self, value: Any, param: Any, ctx: Any) -> timedelta | str:
        text = str(value)
        if days := _DAYS.fullmatch(text):
            return timedelta(days=int(days[1]))
        try:
            return durations.parse(text)
        except ValueError:
            return text  # the service validates instants


class _Json(_ParamType):
    """A JSON document."""

    name = "json"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        from idp.foundation import strict_json

        try:
            return strict_json.decode(str(value).encode())
        except InvalidArgument as error:
            self.fail(str(error), param, ctx)
