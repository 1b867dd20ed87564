"""What the program logs holds none of the secrets that pass through it."""

from __future__ import annotations

import pytest

from tests.program.samples import secrets_of
from tests.support.protocol.relying_party import VERIFIER

NEW_PASSWORD = "seven green kettles hum"
WRONG_PASSWORD = "not-the-password-either"


@pytest.mark.parametrize("log_format", ["json", "text"])
async def test_no_secret_of_a_whole_sign_in_is_logged(start_program, open_browser, log_format):
    program = start_program(
        *("--admin-pat", "pat"), IDP_LOG_LEVEL="debug", IDP_LOG_FORMAT=log_format
    )
    visitor, demo, seen = open_browser(program), program.demo(), secrets_of(program)
    seen -= {demo.client_id}  # public
    admin = program.announcement["admin"]["loginName"]

    page = await visitor.open(demo.authorize_url())
    page = await visitor.submit(page, loginName=admin)
    page = await visitor.submit(page, password=WRONG_PASSWORD)
    seen |= {page.hidden["token"], *visitor.cookies.values()}
    page = await visitor.submit(page, password=program.announcement["admin"]["password"])
    seen |= {page.hidden["token"], *visitor.cookies.values()}
    page = await visitor.submit(page, newPassword=NEW_PASSWORD)
    seen |= {page.answer["code"], *visitor.cookies.values()}
    tokens = (await demo.redeem(visitor, page.answer["code"])).json()
    refreshed = (await demo.refresh(visitor, tokens["refresh_token"])).json()
    for one in (tokens, refreshed):
        seen |= {one["access_token"], one["refresh_token"], one["id_token"]}
    await demo.refresh(visitor, tokens["refresh_token"])  # replayed
    await demo.redeem(visitor, page.answer["code"])  # replayed
    await demo.redeem(visitor, "a-guessed-code", headers={"Authorization": "Basic eDp5"})
    await demo.userinfo(visitor, tokens["access_token"])
    await demo.userinfo(visitor, program.announcement["adminPat"])
    await visitor.get(f"/oidc/v1/userinfo?access_token={refreshed['access_token']}")
    await visitor.get(demo.logout_url(id_token_hint=tokens["id_token"]))
    program.stop()

    seen |= {VERIFIER, NEW_PASSWORD, WRONG_PASSWORD, "a-guessed-code"}
    seen |= {part for one in (tokens, refreshed) for part in one["id_token"].split(".")}
    logged = "".join(program.errors)
    assert "sign-in refused" in logged
    assert "/oauth/v2/token" in logged
    assert [secret for secret in seen if secret in logged] == []
