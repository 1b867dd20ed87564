"""The output of commands: data on stdout, as a table or JSON; everything else on stderr.

Output is never coloured, so NO_COLOR needs no support.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

import click
import msgspec
from msgspec import inspect

from idp.cli.document import Document
from idp.foundation.errors import ConfigError
from idp.schema.answers import Answer

Format = Literal["table", "json", "ndjson"]
FORMATS: Final[tuple[Format, ...]] = ("table", "json", "ndjson")
SECRETS: Final = ("clientSecret", "token", "keyDetails", "password", "verificationCode")
LISTS: Final = ("result", "events", "eventTypes")
_DETAILS: Final = "details"
_HEADINGS: Final = {"summary": "details"}  # of columns whose heading differs from the member
_PUBLISHED_AT: Final = "url"  # next to it, a token is not secret: a domain publishes it


def formatted(answer: Document, output_format: Format, columns: Sequence[str] = ()) -> str:
    """Returns the answer as the text to print in this format, without a final line break.

    `columns` are the dotted paths of a table's columns; if it is empty, the table has all. An
    empty list gives an empty text in a table.
    """
    if output_format == "json":
        return msgspec.json.format(msgspec.json.encode(answer), indent=2).decode()
    rows = _rows(answer)
    if output_format == "ndjson":
        documents = [answer] if rows is None else rows
        return "\n".join(msgspec.json.encode(row).decode() for row in documents)
    return "\n".join(_pairs(answer) if rows is None else _table(rows, columns))


def _rows(answer: Document) -> list[Any] | None:
    """Returns the rows of a list, or None. The API omits an empty list from its answer."""
    for name in LISTS:
        if isinstance(answer.get(name), list):
            return list(answer[name])
    is_list = not answer or "totalResult" in answer.get(_DETAILS, {})
    return [] if is_list else None


def flat(value: object, path: str = "") -> dict[str, str]:
    """Returns the values within a document as texts, by their dotted paths. `path` is the path of
    the document itself, empty for a whole answer.
    """
    if isinstance(value, dict):
        inner = [flat(each, f"{path}.{name}" if path else name) for name, each in value.items()]
        return {name: text for flattened in inner for name, text in flattened.items()}
    if isinstance(value, list) and any(isinstance(each, dict) for each in value):
        inner = [flat(each, f"{path}[{n}]") for n, each in enumerate(value)]
        return {name: text for flattened in inner for name, text in flattened.items()}
    return {path: _text(value)}


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"
        for character in str(value)
    )


def _pairs(answer: Document) -> list[str]:
    texts = {name: text for name, text in flat(answer).items() if _DETAILS not in name.split(".")}
    width = max(map(len, texts), default=0)
    return [f"{name:<{width}}  {text}".rstrip() for name, text in texts.items()]


def _table(rows: Sequence[Any], columns: Sequence[str]) -> list[str]:
    if not rows or not isinstance(rows[0], dict):
        return [_text(row) for row in rows]
    flat_rows = [flat(row) for row in rows]
    names = columns or _all_columns(flat_rows)
    headings = {name: _HEADINGS.get(name, name.rpartition(".")[2]) for name in names}
    widths = {
        name: max(len(headings[name]), *(len(row.get(name, "")) for row in flat_rows))
        for name in names
    }
    lines = [{name: headings[name].upper() for name in names}, *flat_rows]
    return [
        "  ".join(f"{line.get(name, ''):<{widths[name]}}" for name in names).rstrip()
        for line in lines
    ]


def _all_columns(rows: Sequence[Mapping[str, str]]) -> list[str]:
    """Returns all paths of the rows in the order of their first occurrence, without the
    details."""
    names = dict.fromkeys(name for row in rows for name in row)
    return [name for name in names if _DETAILS not in name.split(".")]


def check_field(answer: type[Answer], path: str) -> None:
    """Checks that answers of this type have the field at this dotted path, which `--get` names.

    Raises click.UsageError.
    """
    if not _has_field(inspect.type_info(answer), path.split(".")):
        raise click.UsageError(f"the answer has no {path}")


def _has_field(kind: inspect.Type, names: Sequence[str]) -> bool:
    if isinstance(kind, inspect.UnionType):
        return any(_has_field(each, names) for each in kind.types)
    if isinstance(kind, inspect.StructType) and names:
        types = [each.type for each in kind.fields if each.encode_name == names[0]]
        return any(_has_field(each, names[1:]) for each in types)
    return not names or isinstance(kind, (inspect.AnyType, inspect.DictType))


def field(answer: Document, path: str) -> str:
    """Returns the value at a dotted path of an answer, for `--get`. Raises click.UsageError if it
    is missing.
    """
    value: Any = answer
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    if value is None:
        raise click.UsageError(f"the answer has no {path}")
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def say(sentence: str) -> None:
    """Prints a sentence to stderr."""
    click.echo(sentence, err=True)


def secrets_in(names: Iterable[str]) -> list[str]:
    """Returns the names of secrets among the names of an answer's members."""
    present = set(names)
    return [
        name
        for name in SECRETS
        if name in present and not (name == "token" and _PUBLISHED_AT in present)
    ]


@contextmanager
def private_file(path: Path) -> Iterator[BinaryIO]:
    """Provides a file for writing that only its owner may read; an existing file is truncated.
    Raises ConfigError.
    """
    with os.fdopen(_writable(path, os.O_TRUNC), "wb") as file:
        yield file


def check_writable(path: Path) -> None:
    """Checks that the file can be written, creates it if it is missing, and makes it readable by
    its owner only.

    The content of an existing file remains. Raises ConfigError.
    """
    os.close(_writable(path))


def _writable(path: Path, flags: int = 0) -> int:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | flags, 0o600)
        # The mode above applies only to a new file.
        os.fchmod(descriptor, 0o600)
    except OSError as error:
        raise ConfigError([f"{path} can't be written: {error.strerror}"]) from None
    return descriptor


@contextmanager
def secret_file(file: str | None) -> Iterator[Callable[[Document], None]]:
    """Provides a function that writes the secrets of an answer into the new file `file`, with mode
    0600, and removes them from the answer.

    The file is created first, so that no secret is generated that cannot be stored, and removed if
    nothing was written. If `file` is None, the function does nothing. Raises ConfigError.
    """
    if file is None:
        yield lambda answer: None
        return
    path = Path(file)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise ConfigError([f"{path} can't be made: {error.strerror}"]) from None
    written = 0

    def store_secrets(answer: Document) -> None:
        nonlocal written
        for name in secrets_in(answer):
            written += os.write(descriptor, _file_content(name, answer.pop(name)))
            say(f"{name} is in {path}")

    try:
        yield store_secrets
    finally:
        os.close(descriptor)
        if not written:
            path.unlink()


def _file_content(name: str, secret: str) -> bytes:
    """Returns a secret as its file contains it; a key file arrives in base64."""
    return base64.b64decode(secret) if name == "keyDetails" else secret.encode() + b"\n"
