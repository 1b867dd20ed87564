"""The interface of a source of persons, and functions that read its files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

from msgspec import Struct

from idp.transfer.package.rows import RowProblem
from idp.transfer.sources.import_row_builder import PersonDraft
from idp.transfer.sources.json_text_reader import BrokenValue, JsonTextReader

_OTHER_ENCODINGS: Final = (
    b"\xff\xfe",
    b"\xfe\xff",
    b"\x00{",
    b"{\x00",
    b"\x1f\x8b",
    b"PK\x03\x04",
)


class SourceRefused(Exception):
    """The error that a file cannot be a source at all; its message is a sentence for the user who
    named the file.
    """


class Source(Protocol):
    """A source of persons: files of another system.

    `names` maps the fields of a draft to the source's own names for them, which problems use.
    `reasons` maps fields of the source to the reason why they are dropped; others are dropped
    because this service has no such field.
    """

    names: Mapping[str, str]
    reasons: Mapping[str, str]

    def drafts(self) -> Iterator[PersonDraft]:
        """Yields a draft for each person in the order of the files, and drafts of other or
        unreadable records.

        Raises SourceRefused.
        """


class SourceRecord(Struct, frozen=True, kw_only=True):
    """A record of a source's file, or the problems that prevent reading it.

    `row` is its number, and `path` its position in the file.
    """

    row: int
    path: str
    value: object = None
    problems: tuple[RowProblem, ...] = ()

    def members(self) -> dict[str, Any]:
        """Returns the members of the record, which are the fields of a JSON object; empty if it is
        none.
        """
        return self.value if isinstance(self.value, dict) else {}

    def draft(self) -> PersonDraft:
        """Returns a draft without values, with the problems of the record."""
        problems = list(self.problems)
        if not problems and not isinstance(self.value, dict):
            problems = [
                RowProblem(
                    error_code="field.wrong_type", message="is not an object", fix=_NO_OBJECT
                )
            ]
        return PersonDraft(row=self.row, path=self.path, problems=problems)


_NO_OBJECT: Final = "Each record has to be a JSON object."


@contextmanager
def open_file(path: Path) -> Iterator[BinaryIO]:
    """Provides the file at `path`, open for reading, within the block.

    Raises SourceRefused if it does not exist, cannot be read, or is not in UTF-8.
    """
    try:
        with path.open("rb") as file:
            # The parser's message about such a file would not name the cause.
            if file.read(4).startswith(_OTHER_ENCODINGS):
                raise SourceRefused(f"{path} is not a file in UTF-8: unpack or convert it first")
            file.seek(0)
            yield file
    except OSError as error:
        raise SourceRefused(f"{path} can't be read: {error.strerror}") from None


def records(text: JsonTextReader, name: str, first: int = 1) -> Iterator[SourceRecord]:
    """Yields the consecutive JSON values of a text, or the elements of the only array in it, as
    records that are numbered from `first`.

    `name` is the file's name, with which the records' paths begin.
    """
    is_array = text.consume_if_next("[")
    row = first
    for source_record in elements(text, name, first) if is_array else _values(text, name, first):
        yield source_record
        row = source_record.row + 1
    if is_array and text.peek():
        problem = RowProblem(
            error_code="source.unreadable", message="continues after the list", fix=_FIX_ONE_LIST
        )
        yield SourceRecord(row=row, path=f"{name}:{text.line}", problems=(problem,))


_FIX_ONE_LIST: Final = "Put each list into a separate file."


def elements(text: JsonTextReader, name: str, first: int = 1) -> Iterator[SourceRecord]:
    """Yields the elements of an array whose opening bracket is consumed, as records that are
    numbered from `first`.

    `name` is the file's name, with which the records' paths begin.
    """
    row = first
    while not text.consume_if_next("]"):
        if text.consume_if_next(","):
            continue
        if not text.peek():
            problem = RowProblem(
                error_code="source.cut_off", message="ends in the middle", fix=_FIX_EXPORT
            )
            yield SourceRecord(row=row, path=f"{name}:{text.line}", problems=(problem,))
            return
        yield _source_record(text, name, row)
        row += 1


_FIX_EXPORT: Final = "Export the file again."


def _values(text: JsonTextReader, name: str, first: int) -> Iterator[SourceRecord]:
    row = first
    while text.peek():
        yield _source_record(text, name, row)
        row += 1


def _source_record(text: JsonTextReader, name: str, row: int) -> SourceRecord:
    path = f"{name}:{text.line}"
    try:
        return SourceRecord(row=row, path=path, value=text.value())
    except BrokenValue as broken:
        if broken.is_unparsed:
            text.skip_record()
        return SourceRecord(row=row, path=path, problems=broken.problems)


def dropped(record: Mapping[str, Any], used: frozenset[str], above: str = "") -> list[str]:
    """Returns the names of the record's non-empty members that are not in `used`, each after the
    prefix `above`, the path of the record's object.
    """
    return [
        f"{above}{name}"
        for name, value in record.items()
        if name not in used and value not in (None, "", [], {}, False, 0)
    ]
