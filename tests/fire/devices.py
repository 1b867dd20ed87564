"""A device that polls, and a person who lets it in, while the service dies at every write."""

from __future__ import annotations

import time

from tests.fire.run import Run
from tests.support.protocol.device import GRANTS, Device


async def a_device_is_let_in(run: Run) -> None:
    """Who has lost an answer asks again: codes, the page that the code leads to, the decision."""
    party = await run.place.register("Television", auth_method="none", grant_types=GRANTS)
    device = Device(party, run.browser)
    name, password = await run.person()
    run.is_safe_from_here()
    page = await run.browser.sign_in(party.authorize_url(), name, password)
    assert "code" in page.answer
    run.is_in_danger_from_here()
    told = await device.begin()
    run.keep(told["device_code"])
    run.keep(told["user_code"].replace("-", ""))
    began = time.monotonic()
    waiting = await device.poll()
    expected = {"slow_down" if run.was_done else "authorization_pending"}
    if time.monotonic() - began >= told["interval"]:  # the new start took longer than that
        expected.add("authorization_pending")
    assert waiting.json()["error"] in expected

    page = await run.submit(await run.get("/ui/device"), userCode=told["user_code"])
    page = await run.browser.follow(page)
    assert page.name == "device-confirm", page.text
    page = await run.submit(page, decision="allow")
    assert "/ui/device/done?" in page.location, page.text
    assert await run.deeds(name, "device.") == ["device.allowed"]
    poll = await device.poll()
    if run.was_done:
        assert poll.json()["error"] == "invalid_grant"
        return
    run.is_safe_from_here()
    tokens = poll.json()
    run.keep(tokens["refresh_token"])
    userinfo = await party.userinfo(run.browser, tokens["access_token"])
    again = await device.poll()

    assert userinfo.status == 200
    assert again.json()["error"] == "invalid_grant"
