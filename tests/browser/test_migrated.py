"""People who come from elsewhere by the guides' command lines sign in at a browser."""

from __future__ import annotations

import asyncio
import base64
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pyotp
import pytest

from idp import start
from idp.config import Config
from tests.support.moving import (
    PASSWORD,
    SECRET,
    auth0_tenant,
    commands,
    imported,
    keycloak_realm,
    run,
)

COUNT = 150


async def _take_in(program, folders):
    """Import what the commands wrote into the running program's store."""
    directory = program.directory / "idp-data"
    config = Config(
        data=str(directory), store=f"sqlite:///{directory}/idp.sqlite3", issuer=program.issuer
    )
    service = await start.open_service(config, must_exist=True)
    try:
        return [await imported(service, name, folder) for name, folder in folders.items()]
    finally:
        await start.close_service(service)


@pytest.fixture(scope="module")
def moved(chromium, program, tmp_path_factory):
    """People of Auth0 and of Keycloak, each in an organization of their own."""
    before = os.getcwd()
    folders = {}
    for name, make in (("auth0", auth0_tenant), ("keycloak", keycloak_realm)):
        folders[name] = tmp_path_factory.mktemp(name)
        os.chdir(folders[name])
        try:
            make(COUNT, domain=f"{name}.example")
            run(commands(f"{name}.md")[0], org_id=name)
        finally:
            os.chdir(before)
    with ThreadPoolExecutor(1) as thread:  # Playwright's loop is current in this one
        jobs = thread.submit(lambda: asyncio.run(_take_in(program, folders))).result()
    assert [(job.created, job.failed) for job in jobs] == [(COUNT, 0)] * 2


@pytest.mark.parametrize("number", [1, COUNT // 2, COUNT])
def test_people_of_auth0_sign_in(person, moved, number):
    person.sign_in_to_demo(f"user{number}@auth0.example", PASSWORD)

    assert f"user{number}@auth0.example" in person.text


@pytest.mark.parametrize("number", [1, COUNT // 2, COUNT])
def test_people_of_keycloak_sign_in(person, moved, number):
    person.sign_in_to_demo(f"user{number}@keycloak.example", PASSWORD)

    assert f"user{number}@keycloak.example" in person.text


def test_an_authenticator_app_of_keycloak_goes_on_working(person, moved):
    person.go("/demo/sign-in")
    person.sign_in("user2@keycloak.example", PASSWORD)
    assert person.name == "totp"
    secret = base64.b32encode(SECRET.encode()).decode()
    person.fill(code=pyotp.TOTP(secret).at(datetime.now(UTC)))
    person.press("Continue")

    assert person.name == "demo"
