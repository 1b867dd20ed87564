"""The static files of the pages: stylesheets that are joined from their parts, scripts, images.

Each address contains a digest of the content, so that browsers keep the file permanently. A file
is read and compressed once per process.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Iterator
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from msgspec import Struct

PATH: Final = "/ui/static/"
# Each stylesheet with its parts in `templates/static/css/`, in the order of their layers.
STYLESHEETS: Final = {
    "sign-in.css": ("tokens", "base", "components", "sign-in", "print"),
    "console.css": ("console",),
}
_CONTENT_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class StaticFile(Struct, frozen=True):
    """A static file: its content, also compressed by gzip, and the name in its address."""

    name: str
    content: bytes
    compressed: bytes
    content_type: str


def url(name: str) -> str:
    """Returns the path of a static file, such as `/ui/static/page.0123456789abcdef.js`."""
    return PATH + _files()[name].name


def find(path: str) -> StaticFile | None:
    """Returns the file with this path; None if there is none, or if the digest differs: the
    content of one version must not be cached as that of another."""
    return _by_path().get(path)


def accepts_gzip(accept_encoding: str) -> bool:
    """Returns whether the value of an Accept-Encoding header allows gzip (RFC 9110, 12.5.3)."""
    weights = dict(_weights(accept_encoding))
    return weights.get("gzip", weights.get("*", 0.0)) > 0


def _weights(accept_encoding: str) -> Iterator[tuple[str, float]]:
    for entry in accept_encoding.lower().split(","):
        coding, *parameters = (part.strip() for part in entry.split(";"))
        weight = next(
            (parameter[2:] for parameter in parameters if parameter.startswith("q=")), "1"
        )
        try:
            yield coding, float(weight)
        except ValueError:
            yield coding, 0.0


@cache
def _by_path() -> dict[str, StaticFile]:
    return {PATH + file.name: file for file in _files().values()}


@cache
def _files() -> dict[str, StaticFile]:
    folder = resources.files("templates").joinpath("static")
    single_files = {
        file.name: _without_comments(file)
        for file in folder.iterdir()
        if Path(file.name).suffix in _CONTENT_TYPES
    }
    stylesheets = {name: _joined(folder, parts) for name, parts in STYLESHEETS.items()}
    return {name: _file(name, content) for name, content in (single_files | stylesheets).items()}


def _without_comments(file: Traversable) -> bytes:
    """Returns the content of a file; of a script, without blank lines and those of comments."""
    content = file.read_bytes()
    return re.sub(rb"(?m)^ *(//.*)?\n", b"", content) if file.name.endswith(".js") else content


def _joined(folder: Traversable, parts: tuple[str, ...]) -> bytes:
    """Returns the parts one after the other, without comments and indentation."""
    texts = (folder.joinpath("css", f"{part}.css").read_text(encoding="utf-8") for part in parts)
    return re.sub(r"/\*.*?\*/|\n\s*", "", "".join(texts), flags=re.DOTALL).encode()


def _file(name: str, content: bytes) -> StaticFile:
    path, digest = Path(name), hashlib.sha256(content).hexdigest()[:16]
    return StaticFile(
        name=f"{path.stem}.{digest}{path.suffix}",
        content=content,
        compressed=gzip.compress(content, mtime=0),
        content_type=_CONTENT_TYPES[path.suffix],
    )
