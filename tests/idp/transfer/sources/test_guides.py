"""The guides: their command lines as they are printed, and the people of it sign in."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import pytest

from tests.support.sign_in.factors import code
from tests.support.transfer.moving import (
    GUIDES,
    PASSWORD,
    SECRET,
    auth0_tenant,
    commands,
    imported,
    keycloak_realm,
    run,
)
from tests.support.transfer.packaged import problems

COUNT = 60  # tests/browser has a hundred thousand


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


async def taken_in(server, org):
    """Everybody comes."""
    job = await imported(server.service, "acme")
    told = await problems(server.service, job)
    assert [each for each in told if each.is_error] == []
    assert job.created == len(org["humanUsers"])


@pytest.mark.full
@pytest.mark.promise("migration: from Auth0")
async def test_people_of_auth0_sign_in(server, visitor, demo):
    auth0_tenant(COUNT)
    (command,) = commands("auth0.md")
    await taken_in(server, run(command))

    for n in (1, COUNT // 2, COUNT):
        page = await visitor.sign_in(demo.authorize_url(), f"user{n}@example.com", PASSWORD)
        assert "code" in page.answer
        visitor.cookies.clear()
    page = await visitor.sign_in(demo.authorize_url(), "user2@example.com", "another one")
    assert (page.status, page.name) == (400, "password")


@pytest.mark.full
@pytest.mark.promise("migration: from Keycloak")
async def test_people_of_keycloak_sign_in(server, visitor, demo):
    keycloak_realm(COUNT)
    of_file, of_folder = (run(each) for each in commands("keycloak.md"))
    assert of_file == of_folder
    await taken_in(server, of_file)

    for n in (1, 5, COUNT):
        page = await visitor.sign_in(demo.authorize_url(), f"user{n}@example.com", PASSWORD)
        assert "code" in page.answer
        visitor.cookies.clear()
    page = await visitor.sign_in(demo.authorize_url(), "user2@example.com", PASSWORD)
    assert page.name == "totp"
    secret = base64.b32encode(SECRET.encode()).decode()
    page = await visitor.submit(page, code=code(server.clock, secret))
    assert "code" in page.answer
    visitor.cookies.clear()
    page = await visitor.sign_in(demo.authorize_url(), "user3@example.com", PASSWORD)
    assert (page.status, page.name) == (400, "password")
    page = await visitor.sign_in(demo.authorize_url(), "user4@example.com", PASSWORD)
    assert page.name == "change-password"


TABLES = {
    "people.csv": "email,firstName\nada@x.ch,Ada\n",
    "personen.csv": "Adresse;Vorname;Abteilung\nada@x.ch;Ad\xe9le;F&E\n",
    "okta.csv": "User_Id,Login,email,firstName,lastName\n00u1,ada@x.ch,ada@x.ch,Ada,Byron\n",
    "cognito.csv": "sub,username,email,given_name\n7f-1,ada,ada@x.ch,Ada\n",
    "firebase.csv": "UID,Email,displayName\nk1,ada@x.ch,Ada Byron\n",
    "people.ndjson": json.dumps(
        {
            "userId": "7",
            "userName": "ada",
            "profile": {"firstName": "Ada", "lastName": "Byron"},
            "email": {"email": "ada@x.ch"},
        }
    ),
}


@pytest.mark.parametrize("guide", ["csv.md", "ndjson.md", "okta.md", "cognito.md", "firebase.md"])
def test_each_command_line_of_the_other_guides_works(guide):
    for name, text in TABLES.items():
        Path(name).write_bytes(text.encode("cp1252"))

    for command in commands(guide):
        (person,) = run(command)["humanUsers"]
        assert person["user"]["email"]["email"] == "ada@x.ch"
    assert commands(guide)


LINK = re.compile(r"\]\(([^)#\s]+)?(#[^)]*)?\)")


@pytest.mark.parametrize("page", sorted(path.name for path in GUIDES.glob("*.md")))
def test_what_a_guide_links_to_is_there(page):
    for file, place in LINK.findall((GUIDES / page).read_text(encoding="utf-8")):
        target = GUIDES / (file or page)
        assert "://" in file or target.exists(), file
        if place:
            headings = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            names = {re.sub(r"[^\w -]", "", each).lower().replace(" ", "-") for each in headings}
            assert place[1:] in names
