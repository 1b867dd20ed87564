"""Refused tokens are remembered for some seconds, and not beyond."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from idp.limits.refused_tokens import MAX_TOKENS, REMEMBERED_FOR, RefusedTokens

NOW = datetime(2027, 1, 1, tzinfo=UTC)


def test_a_refused_token_is_remembered_for_some_seconds():
    tokens, now = RefusedTokens(), NOW
    tokens.add("a", now)

    assert tokens.has("a", now)
    assert not tokens.has("b", now)
    assert not tokens.has("a", now + REMEMBERED_FOR)


def test_a_clock_that_is_set_back_forgets_a_refused_token():
    tokens, now = RefusedTokens(), NOW
    tokens.add("a", now)

    assert not tokens.has("a", now - timedelta(days=30))


def test_of_too_many_tokens_the_oldest_is_forgotten():
    tokens, now = RefusedTokens(), NOW
    for number in range(MAX_TOKENS + 1):
        tokens.add(str(number), now)

    assert not tokens.has("0", now)
    assert tokens.has("1", now)
