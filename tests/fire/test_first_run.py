"""`kill -9` before and after every write of a first start: the next start completes it."""

from __future__ import annotations

from itertools import count

import httpx
import pytest

from tests.fire.ground import Ground
from tests.flows.flows import NEW_PASSWORD


async def check_usable(ground: Ground) -> None:
    """Everything that the start told can be used."""
    told, browser = ground.place.start, ground.browser()
    party = ground.place.demo()
    bearer = {"Authorization": f"Bearer {ground.program.announcement['adminPat']}"}
    owner = httpx.get(f"{ground.program.issuer}/oidc/v1/userinfo", headers=bearer)
    page = await browser.sign_in(party.authorize_url(), told.admin.login_name, told.admin.password)
    assert page.name == "change-password"
    page = await browser.submit(page, newPassword=NEW_PASSWORD)
    tokens = await party.tokens(ground.browser(), *ground.place.user)

    assert owner.status_code == 200
    assert "code" in page.answer
    assert tokens["id_token"]


@pytest.mark.load
async def test_killed_at_any_write_a_first_start_is_completed(new_ground, record_property):
    kills = 0
    for moment in ("before", "after"):
        for n in count(1):
            ground = new_ground("--admin-pat", "pat")
            ground.arm(f"{moment} {n}")
            died = ground.dies_while_starting()
            if died:
                ground.bury()
                await ground.start()
                await ground.check()
                await check_usable(ground)
                await ground.check()
                kills += 1
            ground.program.stop()
            if not died:
                break
            ground.check_files()

    record_property("counts", f"{kills} kills at {kills // 2} writes")
    assert kills >= 2 * 4
