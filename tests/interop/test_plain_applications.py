"""Applications that `idp app create` registers by their names and addresses alone: neither by a
preset nor with an option for the library."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from idp.clients import presets
from tests.interop.library_programs import (
    PROGRAMS,
    begun,
    sign_in,
    start,  # noqa: F401
)
from tests.interop.npm_party import Party, meet, signed_in
from tests.interop.running import free_port
from tests.interop.test_preset_programs import is_signed_in
from tests.support import patience
from tests.support.programs import program as processes
from tests.support.protocol.relying_party import RelyingParty

every_program = pytest.mark.parametrize(
    "name", ["passport", "go", "flask-oidc", "allauth", "social-auth"]
)


@pytest.fixture
def service(start_program, tmp_path_factory):
    """A service whose clock a test moves, and whose access tokens last a minute."""
    return start_program(
        "--test",
        "--admin-pat",
        "admin.pat",
        directory=tmp_path_factory.mktemp("service"),
        IDP_ACCESS_TOKEN_SECONDS=60,
    )


@pytest.fixture
def open_program(io_loop, place, service, start, tmp_path):  # noqa: F811
    """Registers and starts the program of a preset; a browser at it."""
    opened = []

    async def make(name: str) -> httpx.AsyncClient:
        port = free_port()
        host = f"localhost:{port}"
        addresses = presets.expand(name, host)
        app = await created(service, tmp_path, addresses)
        text = presets.configuration(name, place.issuer, app["clientId"], host)
        start(name, text, app["clientSecret"], port).wait_for(port)
        opened.append(httpx.AsyncClient(base_url=f"http://{host}", timeout=patience.SECONDS))
        return opened[-1]

    yield make
    for one in opened:
        io_loop.run_sync(one.aclose)


async def advance(service, duration: str) -> None:
    """Moves the clock of the service."""
    async with httpx.AsyncClient(timeout=patience.SECONDS) as http:
        answer = await http.post(f"{service.issuer}/test/clock", json={"advance": duration})
    answer.raise_for_status()


@every_program
async def test_a_program_signs_in_refreshes_and_signs_out_with_a_plain_application(
    place, service, open_browser, open_program, name
):
    pages, own, person = PROGRAMS[name], await open_program(name), open_browser(place)
    await sign_in(place, person, own, name)
    was_signed_in = await is_signed_in(own)
    await advance(service, "2m")
    profile = await own.get(pages.profile)
    sent = await own.post(pages.logout)
    back = await person.open(sent.headers["Location"])
    asked = await begun(person, own, name)

    assert was_signed_in
    assert profile.json()["email"] == "dana@example.com"
    assert not await is_signed_in(own)
    assert back.location == f"{own.base_url}/"
    assert asked.name == "login-name"


@every_program
async def test_a_program_whose_refresh_is_refused_asks_to_sign_in_again(
    place, service, open_browser, open_program, name
):
    own = await open_program(name)
    await sign_in(place, open_browser(place), own, name)
    await advance(service, "9000h")
    page = await own.get(PROGRAMS[name].profile, follow_redirects=True)

    assert page.status_code == 200
    assert "dana@example.com" not in page.text
    assert "sign in" in page.text.lower()


async def test_openid_client_refreshes_and_signs_out_with_an_application_of_a_plain_app_create(
    place, service, open_browser, npm, tmp_path
):
    redirect_uri, goodbye = "https://shop.example/callback", "https://shop.example/"
    addresses = {"redirectUris": [redirect_uri], "postLogoutRedirectUris": [goodbye]}
    app = await created(service, tmp_path, addresses)
    client = RelyingParty(place.issuer, app["clientId"], app["clientSecret"], redirect_uri)
    party, browser = Party(*npm, "openid_client.js"), open_browser(place)
    await meet(place, party, client)
    tokens = (await party.call("callback", url=await signed_in(place, party, browser, client)))[
        "tokens"
    ]
    refreshed = await party.call("refresh", refreshToken=tokens["refresh_token"])
    out = await party.call(
        "endSession",
        id_token_hint=refreshed["tokens"]["id_token"],
        post_logout_redirect_uri=goodbye,
    )
    left = await browser.open(out)
    asked = await browser.open(client.authorize_url())
    party.close()

    assert refreshed["tokens"]["access_token"] != tokens["access_token"]
    assert left.location == goodbye
    assert asked.name == "login-name"


async def created(service, directory: Path, addresses: dict) -> dict:
    """What the command of the reference of applications answers, with these addresses."""
    token = (service.directory / "admin.pat").read_text().strip()
    remote = {"IDP_URL": service.issuer, "IDP_TOKEN": token}

    async def told(*words: str) -> dict:
        ran = await asyncio.to_thread(
            processes.run, directory, *words, "--format", "json", **remote
        )
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    project = (await told("project", "create", "--name", "Plain"))["id"]
    options = [("--redirect-uri", each) for each in addresses["redirectUris"]]
    options += [
        ("--post-logout-redirect-uri", each)
        for each in addresses.get("postLogoutRedirectUris", [])
    ]
    options += [("--grant-type", each) for each in ("authorization-code", "refresh-token")]
    words = [word for option in options for word in option]
    return await told("app", "create", "--project", project, "--name", "Plain", *words)
