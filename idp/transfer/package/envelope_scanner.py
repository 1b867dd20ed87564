"""The outermost members of a JSON document of any size, found while it is received.

The members that say what the document is for are short. They are read before the rest of the
document is, and without holding it in memory.
"""

from __future__ import annotations

import re
from typing import Final

from idp.foundation import strict_json
from idp.foundation.errors import FieldProblem, InvalidArgument

MAX_TEXT: Final = 4096  # a longer text is returned as empty
MAX_BYTES: Final = 64 * 1024

_QUOTE: Final = ord('"')
_BACKSLASH: Final = ord("\\")
_OPENING: Final = frozenset(b"{[")
_OUTSIDE: Final = re.compile(rb'[^"{}\[\]]*+')
_WITHIN: Final = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_MAX_NESTING: Final = 16  # nesting within one chunk; rows have fewer levels
_ESCAPED: Final = re.compile(rb"\\.", re.DOTALL)
_AS_BRACES: Final = bytes.maketrans(b"[]", b"{}")
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"{}[]"))
_IN_TEXT: Final = re.compile(rb"(?:[^\"\\]++|\\.)*+", re.DOTALL)


class EnvelopeScanner:
    """A scanner that finds the outermost level of a JSON document, which is fed to it in chunks.

    Each object and list within it is replaced by null, and each text longer than `MAX_TEXT` by "".
    """

    def __init__(self) -> None:
        self._stored = bytearray()
        self._text = bytearray()
        self._depth = 0
        self._is_in_text = False
        self._rest = b""

    def feed(self, chunk: bytes) -> None:
        """Processes the next chunk of the document."""
        # A backslash at the end of a chunk escapes the first byte of the next one.
        data = self._rest + chunk
        self._rest, at = b"", 0
        if self._passed(data):
            return
        while at < len(data):
            at = self._in_text(data, at) if self._is_in_text else self._outside(data, at)

    def read(self) -> object:
        """Returns the outermost level of the document that was fed. Raises InvalidArgument if it
        is not JSON."""
        if self._depth > 0 or self._is_in_text:
            problem = "the body is not JSON: it ends in the middle, as one does that was cut off"
            raise InvalidArgument([FieldProblem("json.malformed", "", problem)])
        try:
            return strict_json.decode(bytes(self._stored))
        except InvalidArgument as error:
            raise InvalidArgument(list(map(_without_place, error.problems))) from None

    def _passed(self, data: bytes) -> bool:
        """Returns whether nothing of a chunk has to be kept; the chunk is then processed.

        Counting the brackets of a whole chunk is ten times as fast as stepping from mark to mark.
        """
        bare = _ESCAPED.sub(b"", data) if b"\\" in data else data
        pieces = bare.split(b'"')
        # Every second piece between quotation marks is outside of a string.
        outside = b"".join(pieces[self._is_in_text :: 2])
        braces = outside.translate(_AS_BRACES, _NO_BRACKETS)
        for _ in range(_MAX_NESTING):
            braces = braces.replace(b"{}", b"")
        # Deeper than the limit: the exact way decides.
        if b"{}" in braces:
            return False
        closings = braces.count(b"}")
        # The chunk may close an outer level, whose members are kept.
        if self._depth - closings < 2:
            return False
        self._depth += len(braces) - 2 * closings
        self._is_in_text ^= len(pieces) % 2 == 0
        self._text.clear()
        self._rest = b"\\" if bare.endswith(b"\\") else b""
        return True

    def _outside(self, data: bytes, at: int) -> int:
        pattern = _WITHIN if self._depth > 1 else _OUTSIDE
        end = pattern.match(data, at).end()  # type: ignore[union-attr]
        self._keep(data[at:end])
        if end == len(data):
            return end
        if data[end] == _QUOTE:
            self._is_in_text = True
        else:
            self._turn(data[end : end + 1])
        return end + 1

    def _turn(self, bracket: bytes) -> None:
        """Enters an object or a list, or leaves it."""
        if bracket[0] in _OPENING:
            self._keep(bracket if self._depth == 0 else b"null")
            self._depth += 1
        else:
            self._depth -= 1
            if self._depth <= 0:
                self._keep(bracket)

    def _in_text(self, data: bytes, at: int) -> int:
        end = _IN_TEXT.match(data, at).end()  # type: ignore[union-attr]
        if len(self._text) <= MAX_TEXT:
            self._text += data[at : min(end, at + MAX_TEXT + 1)]
        if end == len(data):
            return end
        if data[end] == _BACKSLASH:
            self._rest = data[end:]
            return len(data)
        text = bytes(self._text) if len(self._text) <= MAX_TEXT else b""
        self._keep(b'"' + text + b'"')
        self._text.clear()
        self._is_in_text = False
        return end + 1

    def _keep(self, data: bytes) -> None:
        if self._depth <= 1 and len(self._stored) <= MAX_BYTES:
            self._stored += data[: MAX_BYTES + 1 - len(self._stored)]


def _without_place(problem: FieldProblem) -> FieldProblem:
    """Removes the position from the message: it refers to the kept text, not to the document."""
    return problem._replace(message=problem.message.partition(" at character ")[0])
