"""The guides: their command lines as they are printed, and the people of it sign in."""

from __future__ import annotations

import base64
import json
import re
import shlex
from pathlib import Path

import bcrypt
import pytest
from argon2.low_level import Type, hash_secret_raw
from click.testing import CliRunner

from idp.cli import main
from tests.idp.transfer.packaged import done, problems
from tests.support.bringing import brought
from tests.support.factors import code
from tests.support.migrating import (
    argon2_credential,
    auth0_password,
    auth0_user,
    keycloak_user,
    lines,
    realm,
    totp_credential,
)

GUIDES = Path(__file__).parents[4] / "docs" / "migrate"
PASSWORD = "a lamp in the attic"
SECRET = "xnqNbYLqaeVlOZtzUAJh"  # as Keycloak keeps one
MANY = 60


def commands(guide):
    """Each command line of a guide that is ours, as it is printed."""
    text = (GUIDES / guide).read_text(encoding="utf-8")
    return re.findall(r"^ {4,}(idp migrate .+)$", text, re.MULTILINE)


def run(command):
    """In the current directory, with ORG in the environment of the shell."""
    words = shlex.split(command.replace('"$ORG"', "acme"))
    ran = CliRunner().invoke(main, words[1:], catch_exceptions=False)
    assert ran.exit_code == 0, ran.stderr
    body = json.loads(Path("importBody.json").read_bytes())
    assert Path("report.ndjson").exists()
    return body["dataOrgs"]["orgs"][0]


def argon2(password, n):
    """As Keycloak 26 hashes, with its own parameters."""
    salt = n.to_bytes(16, "big")
    value = hash_secret_raw(
        password.encode(), salt, 5, 7168, parallelism=1, hash_len=32, type=Type.ID
    )
    return argon2_credential(salt, value)


def auth0_tenant(count):
    """Files of that many people, of whom all have the same password."""
    encoded = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(10)).decode()
    Path("users.json").write_bytes(lines(*(auth0_user(n) for n in range(1, count + 1))))
    Path("passwords.json").write_bytes(
        lines(*(auth0_password(n, encoded) for n in range(count, 0, -1)))
    )


def keycloak_realm(count):
    """One file and a folder of the same people: the second has an app, the third is disabled, the
    fourth has to change the password."""
    held = argon2(PASSWORD, 1)
    more = [
        {},
        {"credentials": [held, totp_credential(SECRET)], "totp": True},
        {"enabled": False},
        {"requiredActions": ["UPDATE_PASSWORD"]},
    ]
    users = [
        keycloak_user(n, **{"credentials": [held]} | (more[n - 1] if n <= len(more) else {}))
        for n in range(1, count + 1)
    ]
    Path("realm.json").write_bytes(realm(*users))
    Path("export").mkdir()
    Path("export/acme-realm.json").write_bytes(realm())
    for part in range(0, count, 50):
        document = {"realm": "acme", "users": users[part : part + 50]}
        Path(f"export/acme-users-{part // 50}.json").write_text(json.dumps(document, indent=2))


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


async def taken_in(server, org):
    """The organization exists, as it does when somebody migrates; then everybody comes."""
    await brought(server, {"orgId": "acme", "org": {"name": "Acme"}}, job="before")
    job = await done(server.service, org, size=50)
    told = await problems(server.service, job)
    assert [each for each in told if each.is_error] == []
    assert job.created == len(org["humanUsers"])


@pytest.mark.parametrize(
    "count", [MANY, pytest.param(100_000, marks=pytest.mark.deep)], ids=["some", "many"]
)
async def test_people_of_auth0_sign_in(server, visitor, demo, count):
    auth0_tenant(count)
    (command,) = commands("auth0.md")
    await taken_in(server, run(command))

    for n in (1, count // 2, count):
        page = await visitor.sign_in(demo.authorize_url(), f"user{n}@example.com", PASSWORD)
        assert "code" in page.answer
        visitor.cookies.clear()
    page = await visitor.sign_in(demo.authorize_url(), "user2@example.com", "another one")
    assert (page.status, page.name) == (400, "password")


@pytest.mark.parametrize(
    "count", [MANY, pytest.param(100_000, marks=pytest.mark.deep)], ids=["some", "many"]
)
async def test_people_of_keycloak_sign_in(server, visitor, demo, count):
    keycloak_realm(count)
    of_file, of_folder = (run(each) for each in commands("keycloak.md"))
    assert of_file == of_folder
    await taken_in(server, of_file)

    for n in (1, count):
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
