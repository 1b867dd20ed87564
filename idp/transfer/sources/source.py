"""What a source of people is, and how its files are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

from msgspec import Struct

from idp.transfer.package.rows import RowProblem
from idp.transfer.sources.import_row_builder import PersonDraft
from idp.transfer.sources.long_text import BrokenValue, LongText

_OTHER_ENCODINGS: Final = (
    b"\xff\xfe",
    b"\xfe\xff",
    b"\x00{",
    b"{\x00",
    b"\x1f\x8b",
    b"PK\x03\x04",
)


class SourceRefused(Exception):
    """The file can't be a source at all; the message is a sentence for whoever named it."""


class Source(Protocol):
    """Files of another system.

    `names` are the source's own words for the fields of a draft, where problems are told;
    `reasons` why a field of its is dropped, where more is to say than that there is no place.
    """

    names: Mapping[str, str]
    reasons: Mapping[str, str]

    def drafts(self) -> Iterator[PersonDraft]:
        """Everybody, in the order of the files, and what stands there besides people or can't be
        read. Raises SourceRefused."""


class Piece(Struct, frozen=True, kw_only=True):
    """A record of a file, or why it can't be read."""

    row: int
    path: str
    value: object = None
    problems: tuple[RowProblem, ...] = ()

    def record(self) -> dict[str, Any]:
        """Its members; none if it is no object."""
        return self.value if isinstance(self.value, dict) else {}

    def draft(self) -> PersonDraft:
        """A draft of nobody so far, with what is wrong with the record."""
        problems = list(self.problems)
        if not problems and not isinstance(self.value, dict):
            problems = [
                RowProblem(slug="field.wrong_type", message="is no object", fix=_NO_OBJECT)
            ]
        return PersonDraft(row=self.row, path=self.path, problems=problems)


_NO_OBJECT: Final = "Each record has to be a JSON object."


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The file. Raises SourceRefused: not there, not to be read, or no text in UTF-8."""
    try:
        with path.open("rb") as file:
            if file.read(4).startswith(_OTHER_ENCODINGS):
                raise SourceRefused(f"{path} is not a file in UTF-8: unpack or convert it first")
            file.seek(0)
            yield file
    except OSError as error:
        raise SourceRefused(f"{path} can't be read: {error.strerror}") from None


def records(text: LongText, name: str, first: int = 1) -> Iterator[Piece]:
    """The values of a stream, or the elements of the one array that it is."""
    is_array = text.passed("[")
    row = first
    for piece in elements(text, name, first) if is_array else _values(text, name, first):
        yield piece
        row = piece.row + 1
    if is_array and text.peek():
        problem = RowProblem(slug="source.unreadable", message="goes on behind the list", fix=_ONE)
        yield Piece(row=row, path=f"{name}:{text.line}", problems=(problem,))


_ONE: Final = "Give each list a file of its own."


def elements(text: LongText, name: str, first: int = 1) -> Iterator[Piece]:
    """The elements of an array, behind its bracket."""
    row = first
    while not text.passed("]"):
        if text.passed(","):
            continue
        if not text.peek():
            problem = RowProblem(slug="source.cut_off", message="ends in the middle", fix=_ANEW)
            yield Piece(row=row, path=f"{name}:{text.line}", problems=(problem,))
            return
        yield _piece(text, name, row)
        row += 1


_ANEW: Final = "Have the file written anew."


def _values(text: LongText, name: str, first: int) -> Iterator[Piece]:
    row = first
    while text.peek():
        yield _piece(text, name, row)
        row += 1


def _piece(text: LongText, name: str, row: int) -> Piece:
    path = f"{name}:{text.line}"
    try:
        return Piece(row=row, path=path, value=text.value())
    except BrokenValue as broken:
        if broken.is_lost:
            text.skip_record()
        return Piece(row=row, path=path, problems=broken.problems)


def dropped(record: Mapping[str, Any], used: frozenset[str], above: str = "") -> list[str]:
    """The names of the members that hold something and are not used."""
    return [
        f"{above}{name}"
        for name, value in record.items()
        if name not in used and value not in (None, "", [], {}, False, 0)
    ]
