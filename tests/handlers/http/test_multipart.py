"""multipart/form-data: what browsers send is read, everything else is refused."""

from __future__ import annotations

import pytest

from handlers.http import multipart
from idp.oauth.errors import InvalidRequest

TYPE = "multipart/form-data; boundary=xx"
FILE = (
    b'--xx\r\nContent-Disposition: form-data; name="token"\r\n\r\nt1\r\n'
    b'--xx\r\nContent-Disposition: form-data; name="content"; filename="a b.png"\r\n'
    b"Content-Type: image/png\r\n\r\n\x89PNG\r\n--x\r\n\r\n\r\n--xx--\r\n"
)


def part(head, content=b"v"):
    return b"--xx\r\n" + head + b"\r\n\r\n" + content + b"\r\n"


def named(name, content=b"v", more=b""):
    return part(b'Content-Disposition: form-data; name="' + name + b'"' + more, content)


def test_texts_and_files_are_distinguished_and_stored_byte_by_byte():
    form = multipart.parse(TYPE, FILE)

    assert form.texts.pairs() == [("token", "t1")]
    assert form.files == {"content": b"\x89PNG\r\n--x\r\n\r\n"}


def test_an_input_that_was_left_empty_is_no_file():
    body = named(b"content", b"", b'; filename=""') + b"--xx--\r\n"

    assert multipart.parse(TYPE, body).files == {}


def test_a_boundary_may_be_quoted():
    form = multipart.parse('multipart/form-data; boundary="xx"', FILE)

    assert form.texts.get("token") == "t1"


@pytest.mark.parametrize(
    "type",
    [
        None,
        "",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "multipart/form-data; boundary=" + "x" * 71,
        "multipart/form-data; boundary=x y",
        "multipart/mixed; boundary=xx",
        'multipart/form-data; boundary="xx',
    ],
)
def test_another_type_is_refused(type):
    with pytest.raises(InvalidRequest):
        multipart.parse(type, FILE)


END = b"--xx--\r\n"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"--xx",
        b"preamble\r\n" + FILE,
        FILE + b"epilogue",
        FILE.replace(b"--xx--", b"--xx"),
        FILE[:-20],
        b"--xxContent-Disposition: form-data; name=a\r\n\r\nv\r\n" + END,
        b"--xx\r\nno head\r\n" + END,
        part(b"Content-Type: text/plain") + END,
        part(b'Content-Disposition: attachment; name="a"') + END,
        part(b"Content-Disposition: form-data; name=a") + END,
        part(
            b'Content-Disposition: form-data; name="a"\r\nContent-Disposition: form-data; name="b"'
        )
        + END,
        named(b"a\xff") + END,
        named(b"a", b"\xff") + END,
        named(b"a" * 201) + END,
        named(b"a", more=b"\r\nX-Long: " + b"x" * 3000) + END,
        named(b"a") * 21 + END,
        named(b"f", more=b'; filename="1"') * 2 + END,
    ],
)
def test_what_no_browser_sends_is_refused(body):
    with pytest.raises(InvalidRequest):
        multipart.parse(TYPE, body)
