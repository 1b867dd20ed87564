"""The first start of the program, and every later one, as whoever installs it meets them."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import time
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from pymongo import MongoClient

from tests.program.samples import records_of, secrets_of
from tests.support import patience
from tests.support.browsers.visitor import Visitor
from tests.support.programs import program as processes
from tests.support.programs.in_process import run, started
from tests.support.slices import one_in

KEYS = {"issuer", "store", "dataDir", "admin", "demo", "adminPat", "mail", "curl"}
NEW_PASSWORD = "seven green kettles hum"
WHOLE = {
    "instance": 1,
    "organizations": 1,
    "users": 2,
    "memberships": 2,
    "projects": 1,
    "applications": 1,
    "signing_keys": 4,
}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def kept(told: dict) -> dict:
    """What stays the same wherever the service listens."""
    demo = {name: told["demo"][name] for name in ("clientId", "clientSecret", "user")}
    admin = {name: told["admin"][name] for name in ("loginName", "password")}
    return {"admin": admin, "demo": demo, "store": told["store"]}


def run_line(line: str, directory: Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        ["bash", "-c", line],
        cwd=directory,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=patience.SECONDS,
    )


# What is told


def test_the_json_line_has_exactly_the_keys_that_scripts_rely_on(tmp_path):
    told = started(tmp_path).announcement

    assert set(told) == KEYS
    assert set(told["admin"]) == {"loginName", "password", "setupUrl"}
    assert set(told["demo"]) == {
        *("clientId", "clientSecret", "redirectUri", "postLogoutRedirectUri", "url", "user")
    }
    assert set(told["demo"]["user"]) == {"loginName", "password"}
    assert told["mail"] == {"state": "held", "url": f"{told['issuer']}/dev/mail"}
    assert told["adminPat"] is None
    assert re.fullmatch(r"http://localhost:\d+", told["issuer"])
    link = f"{told['issuer']}/ui/setup#t={told['admin']['password']}&u=admin%40localhost"
    assert told["admin"]["setupUrl"] == link
    assert told["dataDir"] == str(tmp_path / "idp-data")
    assert told["store"] == f"sqlite:///{tmp_path}/idp-data/idp.sqlite3"


def test_people_get_a_banner_on_stderr_and_nothing_on_stdout(start_program, tmp_path):
    program = start_program(as_json=False)
    banner = "".join(program.errors)
    curl = next(line for line in program.errors if "curl " in line)

    assert not program.output
    assert re.search(r"admin@localhost .* one-time password +\S{4}-\S{4}-\S{4}-\S{4}", banner)
    assert re.search(r"or open once: +http://localhost:\d+/ui/setup#t=\S{19}&u=admin", banner)
    assert "/demo" in banner
    assert run_line(curl[curl.index("curl ") :], tmp_path).returncode == 0


def test_every_printed_curl_line_works_from_any_directory(start_program, tmp_path):
    data, elsewhere = tmp_path / "my data", tmp_path / "elsewhere"
    elsewhere.mkdir()
    program = start_program("--data", str(data), "--admin-pat", "the owner's pat.txt")
    lines = program.announcement["curl"]
    ran = {line: run_line(line, elsewhere) for line in lines}

    assert [one.stderr for one in ran.values() if one.returncode] == []
    assert len(lines) >= 5
    sign_in = next(one for line, one in ran.items() if "authorize" in line)
    assert "/ui/login?flow=" in sign_in.stdout
    owner = next(one for line, one in ran.items() if "userinfo" in line)
    assert json.loads(owner.stdout)["sub"]


def test_every_start_of_one_directory_prints_the_same(tmp_path):
    told = [started(tmp_path, "--admin-pat", "pat").announcement for _ in range(3)]

    assert kept(told[0]) == kept(told[1]) == kept(told[2])
    assert told[0]["adminPat"] == told[1]["adminPat"] == told[2]["adminPat"]
    assert (tmp_path / "pat").read_text().strip() == told[0]["adminPat"]
    assert mode(tmp_path / "pat") == 0o600


def test_a_token_file_that_holds_something_else_gets_a_new_token(tmp_path):
    (tmp_path / "pat").write_text("what was here before\n")
    (tmp_path / "pat").chmod(0o600)
    announcement = started(tmp_path, "--admin-pat", "pat").announcement

    assert (tmp_path / "pat").read_text().strip() == announcement["adminPat"]
    assert mode(tmp_path / "pat") == 0o600
    assert [path.name for path in tmp_path.iterdir() if "pat" in path.name] == ["pat"]


def test_two_installations_share_no_secret(start_program, tmp_path):
    found = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        program = start_program("--admin-pat", "pat", directory=tmp_path / name)
        found.append(secrets_of(program))

    assert len(found[0]) == len(found[1]) >= 8
    assert not found[0] & found[1]


# Files


def test_nobody_else_may_read_what_was_made(tmp_path):
    umask = os.umask(0)
    try:
        announcement = started(tmp_path).announcement
    finally:
        os.umask(umask)
    data = Path(announcement["dataDir"])
    files = list(data.iterdir())

    assert mode(data) == 0o700
    assert {path.name for path in files} >= {"master.key", "idp.sqlite3"}
    assert {mode(path) for path in files} == {0o600}


# Interrupted and simultaneous first starts


async def check_whole(program):
    visitor = Visitor(program.issuer)
    try:
        tokens = await program.demo().tokens(visitor, *program.user)
        assert tokens["id_token"]
    finally:
        await visitor.close()
    program.stop()
    assert await records_of(program.announcement["store"], WHOLE) == WHOLE


@pytest.mark.parametrize("moment", one_in(3, range(8)))
async def test_a_first_start_killed_at_any_moment_is_completed(start_program, moment):
    killed = start_program(waits=False)
    time.sleep(0.15 + 0.07 * moment)  # any moment will do: before, amid and after the set-up
    killed.kill()

    await check_whole(start_program())


@pytest.mark.load
@pytest.mark.parametrize("moment", range(3))
async def test_a_killed_first_start_on_mongodb_is_completed(start_program, mongodb, moment):
    killed = start_program("--store", mongodb, waits=False)
    with closing(MongoClient(mongodb)) as client:
        database = client.get_default_database()
        while killed.process.poll() is None and not database.list_collection_names():
            pass
    time.sleep(0.1 * moment)
    killed.kill()

    await check_whole(start_program("--store", mongodb))


async def test_first_starts_at_once_agree(start_program):
    both = [start_program("--admin-pat", "pat", waits=False) for _ in range(2)]
    told = []
    for program in both:
        program.wait_for(lambda program=program: bool(program.output), "its JSON line")
        program.announcement = json.loads(program.output[0])
        told.append(program.announcement)

    assert kept(told[0]) == kept(told[1])
    for program in both:
        bearer = {"Authorization": f"Bearer {program.announcement['adminPat']}"}
        answer = httpx.get(f"{program.issuer}/oidc/v1/userinfo", headers=bearer)
        assert answer.status_code == 200
    both[0].stop()
    both[1].stop()
    whole = WHOLE | {"users": 3, "memberships": 3}
    assert await records_of(told[0]["store"], whole) == whole


@pytest.mark.load
async def test_first_starts_at_once_on_mongodb_agree(start_program, mongodb):
    both = [start_program("--store", mongodb, waits=False) for _ in range(2)]
    for program in both:
        program.wait_for(lambda program=program: bool(program.output), "its JSON line")
        program.announcement = json.loads(program.output[0])

    assert kept(both[0].announcement) == kept(both[1].announcement)
    both[0].stop()
    both[1].stop()
    assert await records_of(mongodb, WHOLE) == WHOLE


# The first administrator


async def test_the_one_time_password_counts_once_and_is_printed_no_more(
    start_program, open_browser
):
    program = start_program()
    admin, demo, visitor = program.announcement["admin"], program.demo(), open_browser(program)
    url = demo.authorize_url()
    page = await visitor.sign_in(url, admin["loginName"], admin["password"])
    assert page.name == "change-password"
    page = await visitor.submit(page, newPassword=NEW_PASSWORD)
    assert "code" in page.answer

    again = await open_browser(program).sign_in(url, admin["loginName"], admin["password"])
    assert (again.status, again.name) == (400, "password")
    page = await open_browser(program).sign_in(url, admin["loginName"], NEW_PASSWORD)
    assert "code" in page.answer
    program.stop()
    told = start_program().announcement["admin"]
    assert told == admin | {"password": None, "setupUrl": None}


async def test_a_lost_password_is_reset_on_the_machine_while_the_service_runs(
    start_program, open_browser, tmp_path
):
    program = start_program()
    ran = processes.run(tmp_path, "admin", "reset-password", "admin@localhost")
    password = ran.stdout.strip()
    url = program.demo().authorize_url()

    assert (ran.returncode, ran.stderr) == (0, "")
    old = await open_browser(program).sign_in(
        url, "admin@localhost", program.announcement["admin"]["password"]
    )
    assert old.name == "password"
    page = await open_browser(program).sign_in(url, "admin@localhost", password)
    assert page.name == "change-password"
    program.stop()
    again = start_program()
    assert again.announcement["admin"]["password"] is None, "the password that was told is void"


def test_a_demo_password_that_was_reset_is_printed_no_more(installed, start_program, tmp_path):
    ran = run(tmp_path, "admin", "reset-password", "demo")
    told, shown = start_program().announcement, start_program(as_json=False).printed

    assert told["demo"]["user"] == {"loginName": "demo", "password": None}
    assert ran.stdout.strip() not in shown
    assert "user demo\n" in shown


def test_the_reset_of_an_unknown_user_says_so(installed, tmp_path):
    ran = run(tmp_path, "admin", "reset-password", "nobody@localhost")

    assert ran.returncode == 5
    assert ran.stdout == ""
    assert "no person has the login name nobody@localhost" in ran.stderr
    assert "Traceback" not in ran.stderr


# Addresses


async def test_the_demo_moves_with_the_port(start_program, open_browser):
    first = start_program()
    first.stop()
    second = start_program()

    assert second.demo().redirect_uri == f"{second.issuer}/demo/callback"
    tokens = await second.demo().tokens(open_browser(second), *second.user)
    assert tokens["id_token"]


def test_a_public_issuer_over_http_is_refused_with_the_cure(tmp_path):
    ran = run(tmp_path, "serve", "--json", "--port", "0", "--issuer", "http://login.example.com")

    assert ran.returncode == 2
    assert "https" in ran.stderr
    assert "insecure_http" in ran.stderr
    assert not list(tmp_path.iterdir()), "nothing is made by a start that is refused"


def test_a_public_issuer_has_no_demo(start_program):
    program = start_program(
        "--issuer", "http://login.example.com", "--insecure-http", "--admin-pat", "pat"
    )
    host = {"Host": "login.example.com"}
    with httpx.Client(base_url=f"http://127.0.0.1:{program.port}", headers=host) as client:
        found = client.get("/.well-known/openid-configuration")
        demo = client.get("/demo")
        bearer = {"Authorization": f"Bearer {program.announcement['adminPat']}"}
        owner = client.get("/oidc/v1/userinfo", headers=bearer)

    assert program.announcement["demo"] is None
    assert found.json()["issuer"] == "http://login.example.com"
    assert demo.status_code == 404
    assert owner.status_code == 200
