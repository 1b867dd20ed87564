"""Answers as the callers inside the process read them."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from idp.api.operation import document_of
from idp.schema.answers import Answer


class _Member(Answer, frozen=True, kw_only=True):
    role_keys: tuple[str, ...] = ()
    changed_at: datetime | None = None


class _Found(Answer, frozen=True, kw_only=True):
    result: tuple[_Member, ...] = ()
    next_cursor: str | None = None


def test_the_document_of_an_answer_is_what_its_json_says():
    instant = datetime(2030, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
    answer = _Found(result=(_Member(role_keys=("a", "b")), _Member(changed_at=instant)))

    document = document_of(answer)

    assert document == msgspec.json.decode(msgspec.json.encode(answer))
    assert document["result"][0] == {"roleKeys": ["a", "b"]}
