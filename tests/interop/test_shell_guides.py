"""The commands of the guides for command-line tools and for APIs, run by a shell as they are."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess

from idp.clients import presets
from tests.support import patience
from tests.support.programs import debian
from tests.support.protocol.relying_party import RelyingParty

COMMAND = re.compile(r"^curl .*(?:(?<=\\)\n.*)*", re.MULTILINE)


async def run(command: str, **variables: str) -> dict:
    """What the command of a guide prints."""
    debian.need("curl")
    ran = await asyncio.to_thread(
        subprocess.run,
        ["bash", "-euo", "pipefail", "-c", command],
        env=os.environ | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=patience.SECONDS,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


async def new_app(api, project: str, name: str) -> dict:
    """An application of a preset, registered in a project: the answer."""
    kind = "api" if presets.find(name).kind == "api" else "oidc"
    body = presets.expand(name, "app.example") | {"name": name}
    made = await api.post(f"/projects/{project}/apps/{kind}", json=body)
    return made.raise_for_status().json()


async def new_project(api, name: str) -> str:
    return (await api.post("/projects", json={"name": name})).raise_for_status().json()["id"]


async def test_a_command_line_tool_signs_in_on_another_device(place, api, open_browser):
    made = await new_app(api, await new_project(api, "A tool"), "cli")
    text = presets.configuration("cli", place.issuer, made["clientId"], "app.example")
    first, second = COMMAND.findall(text)
    started, browser = await run(first), open_browser(place)
    page = await browser.open(started["verification_uri"])
    page = await browser.submit(page, userCode=started["user_code"])
    page = await browser.submit(page, loginName=place.user[0])
    page = await browser.submit(page, password=place.user[1])
    await browser.submit(page, decision="allow")
    tokens = await run(second, DEVICE_CODE=started["device_code"])
    again = await run(second, DEVICE_CODE=started["device_code"])

    assert {"id_token", "access_token", "refresh_token"} <= set(tokens)
    assert again["error"] == "invalid_grant"


async def test_a_command_line_tool_waits_for_the_user(place, api):
    made = await new_app(api, await new_project(api, "A tool that waits"), "cli")
    text = presets.configuration("cli", place.issuer, made["clientId"], "app.example")
    first, second = COMMAND.findall(text)
    started = await run(first)
    answers = [await run(second, DEVICE_CODE=started["device_code"]) for _ in range(2)]

    assert [answer["error"] for answer in answers] == ["authorization_pending", "slow_down"]


async def test_an_api_learns_what_a_token_is_worth(place, api, open_browser):
    project = await new_project(api, "An API and its application")
    made, app = await new_app(api, project, "api"), await new_app(api, project, "flask")
    [redirect_uri] = presets.expand("flask", "app.example")["redirectUris"]
    party = RelyingParty(place.issuer, app["clientId"], app["clientSecret"], redirect_uri)
    browser = open_browser(place)
    page = await browser.sign_in(party.authorize_url(), *place.user)
    token = (await party.redeem(browser, page.answer["code"])).json()["access_token"]
    text = presets.configuration("api", place.issuer, made["clientId"], "app.example")
    [command] = COMMAND.findall(text)
    secret = {"CLIENT_SECRET": made["clientSecret"]}
    told = await run(command, TOKEN=token, **secret)
    changed = await run(command, TOKEN=f"{token}x", **secret)
    refused = await run(command, TOKEN=token, CLIENT_SECRET="another")

    assert (told["active"], told["client_id"]) == (True, app["clientId"])
    assert changed == {"active": False}
    assert refused["error"] == "invalid_client"
    assert refused["error_description"] == "client authentication failed"
