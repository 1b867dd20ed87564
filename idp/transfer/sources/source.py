"""The interface of a source of persons, and functions that read its files."""

from __future__ import annotations

import codecs
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

from msgspec import Struct

from idp.transfer.package.rows import RowProblem
from idp.transfer.sources.import_row_builder import PersonDraft
from idp.transfer.sources.json_text_reader import BrokenValue, JsonTextReader

# The encodings that the first bytes of a file state: a byte order mark, or a bracket of JSON.
_ENCODINGS: Final = {
    b"\xef\xbb\xbf": "utf-8-sig",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
    **{bracket + b"\0": "utf-16-le" for bracket in (b"{", b"[")},
    **{b"\0" + bracket: "utf-16-be" for bracket in (b"{", b"[")},
}
_COPIED_CHARACTERS: Final = 1 << 20
_COMPRESSED: Final = (b"\x1f\x8b", b"PK\x03\x04")


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
    """Provides the file at `path` in UTF-8, open for reading, within the block; one in UTF-16 is
    converted.

    Raises SourceRefused if it does not exist, cannot be read, is compressed, or is a table.
    """
    if path.suffix.lower() == ".csv":
        raise SourceRefused(f"{path} is a table, not JSON: use idp migrate csv --users {path}")
    try:
        with path.open("rb") as file:
            encoding = stated_encoding(path, file)
            is_utf16 = encoding.startswith("utf-16")
            with _in_utf8(path, file, encoding) if is_utf16 else nullcontext(file) as readable:
                yield readable
    except OSError as error:
        raise SourceRefused(f"{path} can't be read: {error.strerror}") from None


def stated_encoding(path: Path, file: BinaryIO) -> str:
    """Returns the encoding that the first bytes of the file at `path` state, empty if they state
    none. The position of `file` stays at the beginning.

    Raises SourceRefused if the file is compressed.
    """
    beginning = file.read(4)
    file.seek(0)
    if beginning.startswith(_COMPRESSED):
        raise SourceRefused(f"{path} is compressed: unpack it first")
    return next((name for mark, name in _ENCODINGS.items() if beginning.startswith(mark)), "")


@contextmanager
def _in_utf8(path: Path, file: BinaryIO, encoding: str) -> Iterator[BinaryIO]:
    """Provides the content of the file at `path`, in UTF-8, in a temporary file without a name."""
    with tempfile.TemporaryFile() as converted:
        reader = codecs.getreader(encoding)(file)
        try:
            while text := reader.read(_COPIED_CHARACTERS):
                converted.write(text.encode())
        except UnicodeError:
            raise SourceRefused(
                f"{path} is not in {encoding}, as its first bytes say: save it in UTF-8"
            ) from None
        converted.seek(0)
        yield converted


def records(text: JsonTextReader, name: str) -> Iterator[SourceRecord]:
    """Yields the consecutive JSON values of a text as records that are numbered from 1; of a list,
    each element.

    `name` is the file's name, with which the records' paths begin. Raises SourceRefused if the
    text is empty.
    """
    if not text.peek():
        raise SourceRefused(f"{name} is empty: export it again")
    row = 1
    while text.peek():
        is_list = text.consume_if_next("[")
        for record in elements(text, name, row) if is_list else [_source_record(text, name, row)]:
            yield record
            row = record.row + 1


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
