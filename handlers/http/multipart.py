"""A strict parser for multipart/form-data (RFC 7578), as browsers send forms with files."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from idp.oauth.errors import InvalidRequest
from idp.oauth.params import Params

TYPE: Final = "multipart/form-data"
_MAX_PARTS: Final = 20
_MAX_HEADER_BYTES: Final = 2048
_BOUNDARY: Final = re.compile(
    r"multipart/form-data *; *boundary=(\"?)([0-9A-Za-z'()+_,./:=?-]{1,70})\1", re.IGNORECASE
)
_DISPOSITION: Final = re.compile(
    rb'content-disposition: *form-data; *name="([^"\r\n]{1,200})"'
    rb'(; *filename="[^"\r\n]*")?(?:; *filename\*=[^;\r\n]*)?',
    re.IGNORECASE,
)
_END: Final = b"--"


class Form(NamedTuple):
    """The text fields of a form, and the contents of its files by the names of their inputs."""

    texts: Params
    files: dict[str, bytes]


class _Part(NamedTuple):
    name: str
    is_file: bool
    content: bytes


def is_multipart(content_type: str | None) -> bool:
    return (content_type or "").partition(";")[0].strip().lower() == TYPE


def parse(content_type: str | None, body: bytes) -> Form:
    """Parses the body of a multipart form. File inputs that were left empty are omitted. Raises
    InvalidRequest for another content type or a malformed body."""
    boundary = _BOUNDARY.fullmatch((content_type or "").strip())
    if boundary is None:
        raise InvalidRequest(f"the content type must be {TYPE} with a boundary")
    parts = [_part(raw) for raw in _split(body, boundary[2].encode())]
    names = [part.name for part in parts if part.is_file]
    if len(set(names)) < len(names):
        raise InvalidRequest("a file was sent more than once")
    return Form(
        Params([(part.name, _text(part.content)) for part in parts if not part.is_file]),
        {part.name: part.content for part in parts if part.is_file and part.content},
    )


def _split(body: bytes, boundary: bytes) -> list[bytes]:
    """Splits the body into its parts, each with its header lines. Raises InvalidRequest."""
    # The limit of splits bounds the work that a body of many boundaries could cause.
    # The first boundary has no line end before it; with a line end added, all boundaries look the
    # same.
    preamble, *parts = (b"\r\n" + body).split(b"\r\n--" + boundary, _MAX_PARTS + 2)
    if preamble or not parts or parts[-1].rstrip(b"\r\n") != _END:
        raise InvalidRequest("the form does not begin and end with its boundary")
    if len(parts) > _MAX_PARTS + 1 or not all(part.startswith(b"\r\n") for part in parts[:-1]):
        raise InvalidRequest("the form has too many parts, or one that can't be told apart")
    return [part[2:] for part in parts[:-1]]


def _part(raw: bytes) -> _Part:
    head, separator, content = raw.partition(b"\r\n\r\n")
    if not separator or len(head) > _MAX_HEADER_BYTES:
        raise InvalidRequest("a part of the form has no head")
    dispositions = [
        match for line in head.split(b"\r\n") if (match := _DISPOSITION.fullmatch(line))
    ]
    if len(dispositions) != 1:
        raise InvalidRequest("a part of the form has no name")
    return _Part(_text(dispositions[0][1]), dispositions[0][2] is not None, content)


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidRequest("a parameter is not UTF-8") from None
