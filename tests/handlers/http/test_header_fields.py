"""The names of header fields, which clients choose."""

from __future__ import annotations

from handlers.http import header_fields
from handlers.http.header_fields import HeaderFields


def test_long_names_are_read_and_not_cached():
    name = b"x-" + b"a" * 100_000
    cached = header_fields._short.cache_info().currsize

    fields = HeaderFields([(name, b"1"), (name, b"2")])

    assert fields["X-A" + "a" * 99_999] == "1,2"
    assert header_fields._short.cache_info().currsize == cached
