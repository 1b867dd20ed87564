"""`idp serve --test`: a clock that can be set, and a store that goes back to how it began."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import httpx
import pytest

from idp.oauth.paths import USERINFO
from tests.support.browsers.visitor import Visitor
from tests.support.programs.in_process import run
from tests.support.programs.program import Program

PAST_ANY_SESSION = "721h"


def post(program, path: str, body: str = "", **headers) -> httpx.Response:
    """On a connection of its own, so that each process may get it."""
    return httpx.post(program.issuer + path, content=body, headers=headers)


def advance(program, by: str) -> datetime:
    answer = post(program, "/test/clock", f'{{"advance": "{by}"}}')
    assert answer.status_code == 200, answer.text
    return datetime.fromisoformat(answer.json()["now"])


def userinfo_statuses(program, token: str, times: int = 12) -> set[int]:
    headers = {"Authorization": f"Bearer {token}"}
    return {
        httpx.get(program.issuer + USERINFO, headers=headers).status_code for _ in range(times)
    }


async def tokens_of(program, browser: Visitor) -> dict:
    return await program.demo().tokens(browser, *program.user)


async def test_a_clock_set_ahead_expires_tokens_in_every_process(start_program, open_browser):
    program = start_program("--test", "--processes", "2")
    token = (await tokens_of(program, open_browser(program)))["access_token"]

    before = userinfo_statuses(program, token)
    now = advance(program, "12h1m")
    after = userinfo_statuses(program, token)

    assert (before, after) == ({200}, {401})
    ahead = now - datetime.now(now.tzinfo)
    assert timedelta(hours=11, minutes=59) < ahead < timedelta(hours=12, minutes=1)


async def test_steps_of_the_clock_add_up(start_program):
    program = start_program("--test")

    first, second = advance(program, "1h30m"), advance(program, "90s")

    assert timedelta(seconds=90) <= second - first < timedelta(seconds=120)


async def test_a_reset_brings_back_what_the_start_announced_and_nothing_else(
    start_program, open_browser
):
    program = start_program("--test", "--processes", "2", "--admin-pat", "pat")
    pat = program.announcement["adminPat"]
    tokens = await tokens_of(program, open_browser(program))
    advance(program, PAST_ANY_SESSION)
    assert userinfo_statuses(program, pat, 1) == {401}

    answer = post(program, "/test/reset")

    assert (answer.status_code, answer.json()) == (200, {})
    assert userinfo_statuses(program, tokens["access_token"]) == {401}
    assert userinfo_statuses(program, pat) == {200}
    again = await tokens_of(program, open_browser(program))
    assert userinfo_statuses(program, again["access_token"]) == {200}
    assert abs(advance(program, "0s") - datetime.now().astimezone()) < timedelta(minutes=1)


async def test_a_reset_forgets_failed_sign_ins(start_program, open_browser):
    program = start_program("--test")
    name, password = program.user
    visitor = open_browser(program)
    for _ in range(8):
        page = await visitor.sign_in(program.demo().authorize_url(), name, "wrong password")
    assert page.status == 429

    post(program, "/test/reset")

    page = await open_browser(program).sign_in(program.demo().authorize_url(), name, password)
    assert "code" in page.answer


def test_the_store_is_temporary_and_leaves_nothing_behind(start_program, tmp_path):
    program = start_program("--test")
    home = Path(program.announcement["dataDir"])

    assert (home / "idp.sqlite3").exists()
    assert not list(tmp_path.iterdir())
    program.stop()
    assert not home.exists()


MINE = ("--test", "--store", "sqlite:///mine.sqlite3")


def test_a_store_that_was_named_is_left_in_place(start_program, tmp_path):
    start_program(*MINE).stop()

    assert (tmp_path / "mine.sqlite3").exists()


async def test_a_later_start_of_a_named_store_finds_the_clock_as_it_was(start_program):
    program = start_program(*MINE)
    before = advance(program, "48h")
    program.stop()

    later = start_program(*MINE)

    assert advance(later, "0s") > before


def test_a_service_that_is_already_in_the_data_directory_is_left_alone(start_program, tmp_path):
    start_program("--data", "mine").stop()
    before = {path.name: path.read_bytes() for path in (tmp_path / "mine").iterdir()}

    program = start_program("--test", "--data", "mine")
    advance(program, "1h")
    home = Path(program.announcement["dataDir"])
    program.stop()

    assert home.parent == tmp_path / "mine"
    assert {path.name: path.read_bytes() for path in (tmp_path / "mine").iterdir()} == before


@pytest.mark.parametrize(
    "body",
    [
        *("", "{}", "[]", "null", '{"advance": 61}', '{"advance": ""}', '{"advance": "61"}'),
        *('{"advance": "-5m"}', '{"advance": "1h"', '{"advance": "1h", "to": "2030"}'),
        *('{"advance": "١h"}', '{"advance": "NaNs"}', '{"advance": "1e9s"}', "[" * 100_000),
        *('{"advance": "999999999h"}', '{"advance": "9999999999999999999999999999999999h"}'),
        '{"advance": "' + "1h" * 50 + '"}',
    ],
)
def test_a_duration_that_is_none_is_refused_and_the_clock_stays(start_test_program, body):
    before = advance(start_test_program, "0s")

    answer = post(start_test_program, "/test/clock", body)

    assert answer.status_code in (400, 413)
    assert answer.json()["error"] == "invalid_request"
    assert advance(start_test_program, "0s") - before < timedelta(minutes=1)


@pytest.mark.parametrize("path", ["/test/clock", "/test/reset"])
def test_another_sites_page_steers_nothing(start_test_program, path):
    answer = post(start_test_program, path, '{"advance": "1h"}', Origin="https://evil.example")

    assert answer.status_code == 403


@pytest.mark.parametrize("path", ["/test/clock", "/test/reset"])
def test_without_the_flag_there_is_nothing_to_steer(start_program, path):
    program = start_program()

    assert post(program, path, '{"advance": "1h"}').status_code == 404


def test_an_issuer_that_others_can_reach_is_refused(tmp_path):
    ran = run(tmp_path, "serve", "--test", "--issuer", "https://login.example.com")

    assert ran.returncode == 2
    assert "test is for issuers on this machine" in ran.stderr
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def start_test_program(tmp_path_factory):
    """One program for all that is refused."""
    program = Program(tmp_path_factory.mktemp("trial"), "--test").start()
    yield program
    program.stop()
