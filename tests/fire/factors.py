"""A second factor, request by request: set up because an application demands it, and asked for."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from idp.records import RECOVERY_CODES, USERS
from tests.fire import stories
from tests.fire.run import Run
from tests.support.sign_in.factors import code_at, codes_of, secret_of

TWO = {"id_token": {"acr": {"essential": True, "value": "urn:idp:acr:two-factors"}}}


def code(secret: str, steps: int = 0) -> str:
    return code_at(secret, datetime.now(UTC), steps)


async def a_second_factor_is_set_up_and_asked_for(run: Run) -> None:
    """Once the app's first code was right, it is set up, whoever is told of it or not."""
    run.is_safe_from_here()
    party, (name, password) = await stories.registered(run), await run.person()
    page = await run.browser.open(party.authorize_url(claims=json.dumps(TWO)))
    page = await run.browser.submit(page, loginName=name)
    run.is_in_danger_from_here()
    page = await run.browser.submit(page, password=password)
    assert page.name == "factor-offer", page.text
    page = await run.browser.submit(page, factor="totp")
    assert page.name == "totp-enrol", page.text
    secret = run.keep(secret_of(page))
    page = await run.browser.submit(page, code=code(secret))
    assert page.name == "recovery-codes", page.text
    run.ground.secrets |= set(codes_of(page))
    page = await run.submit(page)
    run.is_safe_from_here()
    assert page.status == 303, page.text
    assert await run.deeds(name, "session.") == ["session.opened"]
    page = await run.browser.open(party.authorize_url(prompt="login"))
    page = await run.browser.submit(page, password=password)
    assert page.name == "totp", page.text
    run.is_in_danger_from_here()
    page = await run.submit(page, code=code(secret, 1))
    run.is_safe_from_here()
    assert page.status == 303, page.text
    assert await run.deeds(name, "session.") == ["session.opened", "session.renewed"]
    user = (await run.place.store.find(USERS, {"login_key": name})).records[0]
    counted = await run.place.store.find(RECOVERY_CODES, {"user_id": user.id}, limit=100)
    assert len(counted.records) == 10
    page = await run.browser.follow(page)
    await stories.redeemed(run, party, run.keep(page.answer["code"]))
