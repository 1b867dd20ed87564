"""A reader of consecutive JSON values in a text of any length.

An error in a record affects that record alone: the reader continues where the next one seems to
begin. Memory holds one chunk of the text and the current record.
"""

from __future__ import annotations

import codecs
import json
import re
from typing import BinaryIO, Final

from idp.foundation import strict_json
from idp.foundation.errors import FieldProblem, InvalidArgument
from idp.transfer.package.rows import RowProblem

CHUNK_BYTES: Final = 1 << 18
MAX_CHARACTERS: Final = 8 << 20  # of one record
_MARGIN: Final = 16  # a word, a number's dot or an escape may be split by the end of a chunk
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_HEAD_CHARACTERS: Final = 200
# An unterminated string hides every bracket after it.
_DEPTHS: Final = {"{": 1, "[": 1, "]": -1, "}": -1, '"': 1 << 40}
# Bytes that are not UTF-8, as surrogateescape decodes them.
_UNDECODABLE: Final = re.compile("[\udc80-\udcff]")


class BrokenValue(Exception):
    """The error that a value can't be used. With `is_unparsed` it can't be parsed either, and the
    position of the text stays before the value.
    """

    def __init__(self, *problems: RowProblem, is_unparsed: bool = False) -> None:
        super().__init__(problems)
        self.problems = problems
        self.is_unparsed = is_unparsed


class JsonTextReader:
    """A text that is read from `file` in chunks, with a read position; `line` is its line, from 1.

    A byte order mark is skipped.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
        self._text = ""
        self._at = 0
        self._head = ""
        self._is_whole = False
        self.line = 1

    def peek(self) -> str:
        """Returns the next character that is no white space, without consuming it; empty at the
        end.
        """
        while True:
            match = _SPACE.match(self._text, self._at)
            self._advance(match.end() if match else self._at)
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._read_chunk(CHUNK_BYTES):
                return ""

    def consume_if_next(self, character: str) -> bool:
        """Consumes `character` if it comes next after white space; returns whether it did."""
        is_next = self.peek() == character
        if is_next:
            self._advance(self._at + 1)
        return is_next

    def value(self) -> object:
        """Returns the JSON value that begins at the position, and moves the position past it.

        Raises BrokenValue; with `is_unparsed` the position stays before the value.
        """
        self.peek()
        size = CHUNK_BYTES
        while True:
            try:
                value, end = strict_json.DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if not self._may_be_cut(error):
                    raise BrokenValue(self._syntax(error), is_unparsed=True) from None
            except RecursionError:
                raise BrokenValue(_TOO_DEEP, is_unparsed=True) from None
            else:
                # A number at the end of a chunk may continue in the next one.
                if end < len(self._text) or self._is_whole or isinstance(value, list):
                    return self._consumed(value, end)
            self._read_chunk(size)
            # Parsing restarts at the beginning of the value: doubling keeps the work linear.
            size *= 2

    def skip_record(self) -> None:
        """Moves the position past a record that can't be parsed: past its last bracket, or to the
        next line that begins a record with the same indentation.
        If there is neither, it moves to the end.
        """
        is_closed = self.peek() in ("{", "[")
        indent = re.escape(self._head[: len(self._head) - len(self._head.lstrip())])
        tokens = re.compile(
            rf'\n{indent}(?:\}}[ \t]*,[ \t]*)?(?=\{{)|"(?:[^"\\\n]|\\.)*"|[\[\]{{}}"]'
        )
        depth = 0
        while self._at < len(self._text) or not self._is_whole:
            end = self._whole_lines()
            start = self._at
            for match in tokens.finditer(self._text, start, end):
                depth += _DEPTHS.get(match[0], 0)
                if match[0][0] == "\n" or (depth <= 0 and match[0] in "]}" and is_closed):
                    self._advance(match.end())
                    return
                if not is_closed and match[0] in "[]{}":
                    self._advance(max(match.start(), start + 1))
                    return
            self._advance(end)

    def _consumed(self, value: object, end: int) -> object:
        text = self._text[self._at : end]
        self._advance(end)
        if not text.isascii() and _UNDECODABLE.search(text):
            raise BrokenValue(_NOT_UTF8)
        try:
            return strict_json.usable(value)
        except InvalidArgument as error:
            raise BrokenValue(*map(_as_problem, error.details)) from None

    def _whole_lines(self) -> int:
        """Returns the position of the last line break in memory, or else the end of the text."""
        while not self._is_whole:
            end = self._text.rfind("\n", self._at)
            if end > self._at:
                return end
            if len(self._text) - self._at > MAX_CHARACTERS:
                break
            self._read_chunk(CHUNK_BYTES)
        return len(self._text)

    def _may_be_cut(self, error: json.JSONDecodeError) -> bool:
        """Returns whether the error may only be the early end of the text in memory."""
        is_cut = error.pos >= len(self._text) - _MARGIN or error.msg.startswith("Unterminated")
        return is_cut and not self._is_whole and len(self._text) - self._at <= MAX_CHARACTERS

    def _syntax(self, error: json.JSONDecodeError) -> RowProblem:
        if len(self._text) - self._at > MAX_CHARACTERS:
            return _TOO_LONG
        if self._ends_before(error.pos):
            message = f"it ends too early in line {self.line}"
        elif error.pos >= len(self._text.rstrip()):
            return _TRUNCATED
        else:
            line = self.line + self._text.count("\n", self._at, error.pos)
            message = f"{strict_json.parser_message(error)} in line {line}"
        return RowProblem(
            error_code="source.unreadable", message=f"is not JSON: {message}", fix=_FIX_FILE
        )

    def _ends_before(self, at: int) -> bool:
        """Returns whether the parser had already reached the record of another line."""
        end = self._text.find("\n", self._at, at)
        return end > 0 and self._text[self._at] == "{" and self._text.startswith("{", end + 1)

    def _advance(self, to: int) -> None:
        start = self._text.rfind("\n", self._at, to) + 1
        if start:
            self.line += self._text.count("\n", self._at, to)
            self._head = self._text[start : min(to, start + _HEAD_CHARACTERS)]
        elif len(self._head) < _HEAD_CHARACTERS:
            self._head += self._text[self._at : min(to, self._at + _HEAD_CHARACTERS)]
        self._at = to

    def _read_chunk(self, size: int) -> bool:
        """Reads another chunk and discards the consumed text; returns whether there was one."""
        if self._is_whole:
            return False
        read = self._file.read(size)
        self._is_whole = not read
        self._text = self._text[self._at :] + self._decoder.decode(read, final=not read)
        self._at = 0
        return bool(read)


def _as_problem(problem: FieldProblem) -> RowProblem:
    return RowProblem(
        error_code=problem.error_code, field=problem.field, message=problem.message, fix=_FIX_FILE
    )


_FIX_FILE: Final = "Fix the file, or export it again."
_TOO_DEEP: Final = RowProblem(
    error_code="json.too_deep", message="is nested too deeply", fix=_FIX_FILE
)
_TRUNCATED: Final = RowProblem(
    error_code="source.cut_off", message="ends in the middle", fix="Export the file again."
)
_TOO_LONG: Final = RowProblem(
    error_code="source.too_long",
    message=f"has more than {MAX_CHARACTERS} characters",
    fix=_FIX_FILE,
)
_NOT_UTF8: Final = RowProblem(
    error_code="source.encoding",
    message="is not UTF-8",
    fix="Export the file in UTF-8, or convert it.",
)
