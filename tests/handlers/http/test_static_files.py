"""What is served beside the pages: stylesheets, scripts and images."""

from __future__ import annotations

import gzip
import hashlib
import re
from importlib import resources

import pytest
import tinycss2

from handlers.http import static_files

STATIC = resources.files("templates").joinpath("static")


def test_an_address_contains_a_digest_of_the_content():
    url = static_files.url("passkey.js")

    digest = hashlib.sha256(static_files.find(url).content).hexdigest()[:16]
    assert url == f"/ui/static/passkey.{digest}.js"


@pytest.mark.parametrize("name", ["page.js", "passkey.js"])
def test_a_script_is_sent_without_its_comments(name):
    sent = static_files.find(static_files.url(name)).content.decode().splitlines()
    source = STATIC.joinpath(name).read_text(encoding="utf-8").splitlines()

    assert sent == [line for line in source if line and not line.lstrip().startswith("//")]
    assert len(sent) < len(source)


def test_a_stylesheet_is_joined_from_all_of_its_parts():
    joined = {name: static_files.find(static_files.url(name)) for name in static_files.STYLESHEETS}
    parts = {part.name: part.read_text() for part in STATIC.joinpath("css").iterdir()}

    for name, file in joined.items():
        used = [f"{part}.css" for part in static_files.STYLESHEETS[name]]
        together = "".join(parts.pop(each) for each in used)
        assert tokens(file.content.decode()) == tokens(together)
        assert b"/*" not in file.content
        assert file.content_type == "text/css; charset=utf-8"
    assert parts == {}


def tokens(style):
    """What a browser reads of a stylesheet, without comments and spaces."""
    rules = tinycss2.parse_stylesheet(style, skip_comments=True, skip_whitespace=True)
    return [re.sub(r"/\*.*?\*/|\s+", "", rule.serialize(), flags=re.DOTALL) for rule in rules]


def test_scripts_are_small():
    assert len(STATIC.joinpath("page.js").read_bytes()) <= 5_000


@pytest.mark.parametrize(
    "path",
    [
        "",
        "page.js",
        "page.0000000000000000.js",
        "css/tokens.css",
        "icons/eye.svg",
        "x/../page.mako",
    ],
)
async def test_no_other_file_is_served(visitor, path):
    answer = await visitor.http.get(visitor.base + static_files.PATH + path)

    assert answer.status_code == 404
    assert "immutable" not in answer.headers["Cache-Control"]


@pytest.mark.parametrize("name", ["sign-in.css", "console.css", "page.js", "icon.svg"])
async def test_a_file_is_compressed_for_browsers_that_accept_it(visitor, name):
    url = visitor.base + static_files.url(name)
    plain = await visitor.http.get(url, headers={"Accept-Encoding": "identity"})
    small = await visitor.http.get(url, headers={"Accept-Encoding": "br, gzip"})

    assert "Content-Encoding" not in plain.headers
    assert small.headers["Content-Encoding"] == "gzip"
    assert small.content == plain.content  # decoded by the client
    for answer in (plain, small):
        assert answer.headers["Vary"] == "Accept-Encoding"
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"


def test_a_file_is_compressed_once_and_always_the_same():
    file = static_files.find(static_files.url("sign-in.css"))

    assert gzip.decompress(file.compressed) == file.content
    assert file.compressed == gzip.compress(file.content, mtime=0)
    assert static_files.find(static_files.url("sign-in.css")) is file


@pytest.mark.parametrize(
    ("accept_encoding", "does"),
    [
        ("", False),
        ("gzip", True),
        ("GZIP", True),
        ("br;q=1.0, gzip;q=0.8, *;q=0.1", True),
        ("*", True),
        ("gzip;q=0, *", False),
        ("gzip;q=0.000", False),
        ("*;q=0", False),
        ("gzip ; q=oh", False),
        ("identity", False),
        ("x-gzip-like", False),
        (";;,,=", False),
    ],
)
def test_whether_a_browser_accepts_compression_is_read_from_its_header(accept_encoding, does):
    assert static_files.accepts_gzip(accept_encoding) is does


async def test_pages_are_never_compressed(visitor):
    answer = await visitor.http.get(
        visitor.base + "/ui/setup", headers={"Accept-Encoding": "gzip, br"}
    )

    assert answer.status_code == 200
    assert "Content-Encoding" not in answer.headers
