"""Requests that servers have read differently: what this one reads, and refuses."""

from __future__ import annotations

import pytest

from tests.idp.server.http1.hostile import TABLE
from tests.idp.server.http1.serving import served


@pytest.mark.promise("security: framing")
@pytest.mark.parametrize("name", TABLE)
async def test_a_hostile_request_is_read_in_one_way_or_refused(name):
    raw, expected = TABLE[name]
    async with served() as service:
        answers = await service.answers(raw)

    if isinstance(expected, list):
        assert service.seen.read == expected
    else:
        assert answers == b"HTTP/1.1 400 Bad Request\r\n\r\n"
        assert not service.seen.read


def test_there_are_enough_of_them():
    assert len(TABLE) > 130
