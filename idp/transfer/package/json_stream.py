"""A reader of a JSON document of any size, from beginning to end in constant memory.

The outer levels are parsed here; a value that fits into memory is read as
`idp/foundation/strict_json.py` reads it. Of the event-based parsers available, those that are fast
enough replace half of a surrogate pair by another character, and none continues after a NaN.
"""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections.abc import Iterator, Mapping, Sequence
from json import JSONDecodeError
from typing import Final, Protocol

from idp.foundation.errors import FieldProblem, InvalidArgument
from idp.foundation.strict_json import DECODER, MAX_DEPTH, parser_message, texts, usable

MAX_VALUE: Final = 4 * 1024 * 1024
MAX_MEMBERS: Final = 1000
_SLICE: Final = 256 * 1024
# A number can continue after what looks like its end: "1" of "1.5e+7".
_LOOK_AHEAD: Final = 3
_LONGEST_TOKEN: Final = len(r"\ud83d\ude00")

_SPACES: Final = " \t\n\r"
_SPACE: Final = re.compile(f"[{_SPACES}]*")
_NUMBER: Final = re.compile(r"[-+.0-9eE]*")
_MARKS: Final = re.compile(r'"|[{\[]+|[}\]]+')
_IN_STRING: Final = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_READABLE: Final = re.compile(
    r'[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*'
)
_OTHER_FORMATS: Final = {
    b"\x1f\x8b": "is compressed with gzip: unpack it first",
    b"PK\x03\x04": "is a ZIP archive: unpack it first",
    b"\xef\xbb\xbf": "begins with a byte order mark: save it as UTF-8 without one",
    b"\xff\xfe": "is UTF-16: save it as UTF-8",
    b"\xfe\xff": "is UTF-16: save it as UTF-8",
}
_LONGEST_START: Final = max(map(len, _OTHER_FORMATS))
_TOO_LARGE: Final = FieldProblem(
    "json.too_large", "", f"has more than {MAX_VALUE} characters", MAX_VALUE
)
_TOO_DEEP: Final = FieldProblem("json.too_deep", "", f"is nested deeper than {MAX_DEPTH} levels")


class ByteSource(Protocol):
    """A source of bytes, such as a file opened for reading."""

    def read(self, size: int, /) -> bytes:
        """Returns at most `size` bytes; none at the end."""


class UnusableValue(InvalidArgument):
    """The error that a value breaks a rule of JSON or of its size; the stream is then positioned
    after the value, and reading can continue.

    `texts` has the short texts of an object, by which a report can name it.
    """

    def __init__(
        self, problems: Sequence[FieldProblem], texts: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(problems)
        self.texts = texts or {}


class JsonStream:
    """A reader of the JSON document in `source`, with a position in the document; every method
    reads from that position.

    Every method raises InvalidArgument where the document is not JSON.
    """

    def __init__(self, source: ByteSource) -> None:
        self._source = source
        self._decode = getincrementaldecoder("utf-8")().decode
        self._text = ""
        self._at = 0
        self._passed = 0
        self._has_ended = False
        self._begin()

    def peek(self) -> str:
        """Returns the first character of the next token without moving the position; empty at the
        end.
        """
        while True:
            character = self._text[self._at : self._at + 1]
            if character and character not in _SPACES:
                return character
            self._at = _end(_SPACE, self._text, self._at)
            if self._at < len(self._text):
                return self._text[self._at]
            if self._has_ended:
                return ""
            self._grow()

    def members(self) -> Iterator[str]:
        """Yields the member names of the object that begins at the position.

        After each name the caller reads the member's value before it asks for the next name.
        Raises InvalidArgument for a name that occurs twice.
        """
        self._consume("{")
        seen: set[str] = set()
        has_more = self._is_next("}")
        while has_more:
            name = self._name()
            if name in seen:
                raise InvalidArgument(
                    [FieldProblem("json.duplicate", name, "is listed twice in its object")]
                )
            # The names are held in memory to find duplicates, so their number is limited.
            if len(seen) == MAX_MEMBERS:
                raise self.malformed(f"an object of more than {MAX_MEMBERS} members")
            seen.add(name)
            yield name
            has_more = self._has_another("}")

    def elements(self) -> Iterator[int]:
        """Yields the indexes of the elements of the list that begins at the position.

        After each index the caller reads the element before it asks for the next index.
        """
        self._consume("[")
        index = 0
        has_more = self._is_next("]")
        while has_more:
            yield index
            index += 1
            has_more = self._has_another("]")

    def value(self) -> object:
        """Returns the value that begins at the position. Raises UnusableValue if it breaks a
        rule."""
        parsed = self._whole_value()
        try:
            return usable(parsed)
        except InvalidArgument as error:
            raise UnusableValue(error.problems, texts(parsed)) from None

    def text(self) -> Iterator[str]:
        """Yields the string that begins at the position, in chunks."""
        self._consume('"')
        while True:
            piece, self._at = self._text_chunk()
            yield piece
            if self._text.startswith('"', self._at):
                self._at += 1
                return
            if self._has_ended or len(self._text) - self._at > _LONGEST_TOKEN:
                raise self.malformed("a string that can't be read")
            self._grow()

    def end(self) -> None:
        """Raises InvalidArgument if anything but white space follows the position."""
        if self.peek():
            raise self.malformed("something behind its end")

    def malformed(self, what: str, at: int | None = None) -> InvalidArgument:
        """Returns the error of a document that is not JSON.

        `what` names the parser_message (`no name of a member`). `at` is its index in the text in
        memory, by default the current position; the error names its position in the whole
        document.
        """
        position = self._passed + (self._at if at is None else at)
        return InvalidArgument(
            [FieldProblem("json.malformed", "", f"is not JSON: {what} at character {position}")]
        )

    # The window: the part of the text in memory, which begins at or before the current position

    def _begin(self) -> None:
        first = read_bytes = self._source.read(_SLICE)
        while read_bytes and len(first) < _LONGEST_START:
            read_bytes = self._source.read(_SLICE)
            first += read_bytes
        for start, message in _OTHER_FORMATS.items():
            if first.startswith(start):
                raise InvalidArgument([FieldProblem("package.encoding", "", message)])
        self._append(first)

    def _grow(self, size: int = _SLICE) -> None:
        """Discards the consumed text, and reads the next bytes."""
        self._append(self._source.read(size))

    def _append(self, data: bytes) -> None:
        self._has_ended = not data
        try:
            text = self._decode(data, self._has_ended)
        except UnicodeDecodeError:
            raise InvalidArgument([FieldProblem("package.encoding", "", "is not UTF-8")]) from None
        self._passed += self._at
        self._text = self._text[self._at :] + text
        self._at = 0

    # Punctuation between values

    def _consume(self, character: str) -> None:
        if self.peek() != character:
            raise self.malformed(f"no {character}")
        self._at += 1

    def _is_next(self, closing: str) -> bool:
        """Returns whether something comes before the closing mark, which is consumed otherwise."""
        if self.peek() != closing:
            return True
        self._at += 1
        return False

    def _has_another(self, closing: str) -> bool:
        more = self._is_next(closing)
        if more:
            self._consume(",")
        return more

    def _name(self) -> str:
        if self.peek() != '"':
            raise self.malformed("no name of a member")
        name = str(self.value())
        self._consume(":")
        return name

    # Values that fit into memory

    def _whole_value(self) -> object:
        """Returns the value as DECODER reads it.

        Of a value that is too large or too deep, only the end is found.
        """
        size = _SLICE
        self.peek()
        try:
            while (scanned := self._scanned()) is None:
                if len(self._text) - self._at > MAX_VALUE:
                    self._skip()
                    raise UnusableValue([_TOO_LARGE])
                self._grow(size)
                # Each attempt begins at the start of the value: doubling keeps the total work
                # linear.
                size *= 2
        except RecursionError:  # the decoder recurses once per level
            self._skip()
            raise UnusableValue([_TOO_DEEP]) from None
        value, end = scanned
        is_too_large = end - self._at > MAX_VALUE
        self._at = end
        if is_too_large:
            raise UnusableValue([_TOO_LARGE])
        return value

    def _scanned(self) -> tuple[object, int] | None:
        """Returns the value and its end; None if more of the text is needed."""
        try:
            value, end = DECODER.raw_decode(self._text, self._at)
        except JSONDecodeError as error:
            self._require_more(parser_message(error), error.pos)
        else:
            if self._has_ended or end + _LOOK_AHEAD <= len(self._text):
                return value, end
        return None

    def _require_more(self, what: str, at: int) -> None:
        """Raises InvalidArgument unless the parser_message may only be the early end of the
        window."""
        is_at_end = at + _LONGEST_TOKEN > len(self._text) or what.startswith("Unterminated string")
        if self._has_ended or not is_at_end:
            raise self.malformed(what, at)

    def _skip(self) -> None:
        """Moves past a value that is not needed.

        Its brackets are counted, and nothing else is checked.
        """
        if self._text[self._at] not in '"{[':
            self._skip_pattern(_NUMBER)
            return
        depth = 0
        while True:
            marks = self._next_marks()
            if marks == '"':
                self._skip_pattern(_IN_STRING)
                self._consume('"')
            elif marks[0] in "{[":
                depth += len(marks)
            else:
                self._at -= max(len(marks) - depth, 0)
                depth = max(depth - len(marks), 0)
            if depth == 0:
                return

    def _next_marks(self) -> str:
        """Consumes and returns the next quotation mark, or a run of brackets that all open or all
        close.
        """
        while True:
            match = _MARKS.search(self._text, self._at)
            self._at = match.end() if match else len(self._text)
            if match:
                return match[0]
            if self._has_ended:
                raise self.malformed("the end of it, too early,")
            self._grow()

    def _skip_pattern(self, pattern: re.Pattern[str]) -> None:
        while True:
            self._at = _end(pattern, self._text, self._at)
            if self._has_ended or self._at + _LOOK_AHEAD < len(self._text):
                return
            self._grow()

    # A string that is read in chunks

    def _text_chunk(self) -> tuple[str, int]:
        """Returns the readable part of the string and its end, without a high surrogate whose
        second half has not been read yet.
        """
        end = _end(_READABLE, self._text, self._at)
        piece, _ = DECODER.raw_decode(f'"{self._text[self._at : end]}"')
        is_open = not self._text.startswith('"', end)
        if is_open and "\ud800" <= piece[-1:] <= "\udbff":
            return piece[:-1], end - len(r"\ud83d")
        return piece, end


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at
