"""base64url without padding has one form."""

from __future__ import annotations

import base64

import pytest

from idp.foundation import base64url

BYTES = [b"", b"a", b"ab", b"abc", bytes(range(256)), b"\xfb\xff\xfe"]


@pytest.mark.parametrize("data", BYTES)
def test_bytes_are_encoded_as_the_standard_library_does_without_padding(data):
    text = base64url.encode(data)

    assert text == base64.urlsafe_b64encode(data).decode().rstrip("=")
    assert base64url.decode(text) == data


@pytest.mark.parametrize(
    "text",
    [
        "YQ==",
        "YQ=",
        "YR",
        "Y",
        "Y Q",
        "YQ\n",
        " YQ",
        "YWI+",
        "YWI/",
        "YQé",
        "YQ\ud800",
        "=",
        "YQ=YQ",
    ],
)
def test_any_other_form_is_refused(text):
    with pytest.raises(ValueError, match="base64url"):
        base64url.decode(text)


@pytest.mark.parametrize("value", [5, None, [], b"YQ", {"a": 1}])
def test_what_is_no_text_is_refused(value):
    with pytest.raises(TypeError):
        base64url.decode(value)
