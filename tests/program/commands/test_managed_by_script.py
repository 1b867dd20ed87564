"""A script with the administrator's token makes everything and needs no page; people sign in."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.support import patience
from tests.support.protocol.relying_party import RelyingParty

README = Path(__file__).parents[3] / "README.md"
PEOPLE = {"anna": "a lamp in the attic", "max": "four green kettles"}


def readme_script(issuer: str) -> str:
    """The commands of the README's section, for this issuer."""
    section = README.read_text().split("\n## Manage it by script\n")[1]
    script = re.search(r"```sh\n(.+?)```", section, re.DOTALL)[1]
    return script.replace("http://localhost:8080", issuer)


def answers(output: str) -> list[dict]:
    """The JSON objects that stand one after the other."""
    found, read = [], json.JSONDecoder().raw_decode
    while output := output.lstrip():
        value, end = read(output)
        found.append(value)
        output = output[end:]
    return found


@pytest.fixture
def made(start_program, tmp_path):
    """A program, and what the README's script was answered: a person, an application."""
    program = start_program("--admin-pat", "admin.pat")
    done = subprocess.run(
        ["sh", "-c", readme_script(program.issuer)],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=patience.SECONDS,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return program, *answers(done.stdout)


async def test_people_of_the_readme_s_script_sign_in_to_its_application(made, open_browser):
    program, person, app = made
    party = RelyingParty(
        program.issuer, app["clientId"], app["clientSecret"], "http://localhost:3000/callback"
    )
    claims = {}
    for name, password in PEOPLE.items():
        browser = open_browser(program)
        tokens = await party.tokens(browser, name, password)
        refreshed = (await party.refresh(browser, tokens["refresh_token"])).json()
        claims[name] = (await party.userinfo(browser, refreshed["access_token"])).json()

    assert [each["preferred_username"] for each in claims.values()] == list(PEOPLE)
    assert claims["max"]["sub"] == person["userId"]
    assert claims["anna"]["email"] == "anna@acme.example"


async def test_what_a_script_makes_is_there_after_a_new_start(made, open_browser, start_program):
    program, person, app = made
    program.stop()
    program = start_program("--admin-pat", "admin.pat")
    pat = (program.directory / "admin.pat").read_text().strip()
    browser = open_browser(program)
    headers = {"Authorization": f"Bearer {pat}"}
    found = await browser.get(f"/v2/users/{person['userId']}", headers=headers)

    assert found.json()["user"]["userId"] == person["userId"]
    assert program.announcement["demo"]["clientId"] != app["clientId"]
