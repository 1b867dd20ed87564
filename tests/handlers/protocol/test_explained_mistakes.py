"""Mistakes of relying-party developers: each is told in the right sentence, to whom it may be."""

from __future__ import annotations

import json

import pytest

from idp.cli.commands import explain
from idp.oauth.endpoints import check_order
from tests.handlers.protocol.mistakes import (
    credentials,
    devices,
    exchanges,
    grants,
    pages,
    pushing,
    redirects,
    service_tokens,
    tokens,
)
from tests.support.sign_in.steps import text_of

MISTAKES = [
    *pages.ADDRESSES,
    *pages.UNUSABLE,
    *pages.LOGOUTS,
    *redirects.MISTAKES,
    *credentials.MISTAKES,
    *grants.CODES,
    *grants.REFRESHES,
    *tokens.MISTAKES,
    *pushing.MISTAKES,
    *service_tokens.MISTAKES,
    *exchanges.MISTAKES,
    *devices.MISTAKES,
]


def test_there_are_more_than_thirty_mistakes_and_each_is_another():
    assert len(MISTAKES) > 120
    assert len([mistake for mistake in MISTAKES if mistake.shown]) > 30
    assert len({mistake.name for mistake in MISTAKES}) == len(MISTAKES)


def test_every_check_of_every_endpoint_is_failed_by_some_mistake():
    lists = [each for group in check_order.CHECKS.values() for each in group]
    every = {check.name for each in lists for check in each}

    assert every == {mistake.check for mistake in MISTAKES}


def answered(page):
    """What the client itself was told."""
    answer = page.answer if page.location else {} if page.name else page.json()
    assert set(answer) <= {"error", "error_description", "state", "iss"}
    return [answer["error_description"]] if page.status < 405 and len(answer) > 1 else []


@pytest.mark.full
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
async def test_a_mistake_is_explained(world, mistake):
    page = await mistake.make(world)
    found = await explain.find(world.server.service, page.headers["X-Request-Id"])
    (told,) = json.loads(explain.in_json(found))["refusals"]
    made = [(check["name"], check["passed"]) for check in told["checks"]]
    text = explain.in_text(found)

    assert told["sentence"] == world.filled(mistake.sentence)
    assert made[-1] == (mistake.check, False)
    assert all(passed for _, passed in made[:-1])
    assert told["rule"]
    assert told["fix"]
    assert f"why     {told['sentence']}\n" in text
    assert page.name == ("explain" if mistake.shown else None) or page.status == 405
    for said in answered(page):
        assert said == told["told"]
    for shown in mistake.shown:
        assert shown in text_of(page)
