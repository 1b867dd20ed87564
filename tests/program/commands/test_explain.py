"""`idp explain` as a command, beside the running service whose store it reads."""

from __future__ import annotations

import json

import pytest

from tests.support.programs import program as processes
from tests.support.programs.in_process import run
from tests.support.servers.mongod import fresh_database


async def extra_slash(program, visitor, demo):
    return await visitor.get(demo.authorize_url(redirect_uri=f"{demo.redirect_uri}/"))


async def wrong_secret(program, visitor, demo):
    demo.client_secret = "invented"
    return await demo.redeem(visitor, "c" * 65)


async def used_code(program, visitor, demo):
    page = await visitor.sign_in(demo.authorize_url(), *program.user)
    await demo.redeem(visitor, page.answer["code"])
    return await demo.redeem(visitor, page.answer["code"])


async def silent(program, visitor, demo):
    return await visitor.get(demo.authorize_url(prompt="none"))


async def invented_token(program, visitor, demo):
    return await demo.userinfo(visitor, "invented")


REFUSED = [
    (extra_slash, "redirect_uri", "There is an extra / at the end."),
    (wrong_secret, "client_proof", "The secret is wrong: it has 8 characters"),
    (used_code, "code_unused", "by the same client. Every token that came of it is revoked."),
    (silent, "person", "The user is not signed in."),
    (invented_token, "token_genuine", "It does not look like a token of this service at all."),
]


async def test_the_administrator_is_printed_while_the_service_runs(
    start_program, open_browser, tmp_path
):
    program = start_program("--processes", "2")
    for refuse, check, sentence in REFUSED:
        page = await refuse(program, open_browser(program), program.demo())
        request_id = page.headers["X-Request-Id"]
        text = processes.run(tmp_path, "explain", request_id, PYTHONIOENCODING="utf-8")
        told = processes.run(tmp_path, "explain", request_id, "--json")
        (refusal,) = json.loads(told.stdout)["refusals"]

        assert (text.returncode, told.returncode) == (0, 0), text.stderr + told.stderr
        assert sentence in text.stdout
        assert sentence in refusal["sentence"]
        assert [made["name"] for made in refusal["checks"] if not made["passed"]] == [check]
        assert "✗" in text.stdout


async def test_the_refusals_of_one_id_come_newest_first_from_mongodb(
    start_program, open_browser, tmp_path, mongod
):
    with fresh_database(mongod) as url:
        program = start_program("--store", url)
        browser = open_browser(program)
        for method in ("GET", "PUT"):
            await browser.request(method, "/oauth/v2/token", headers={"X-Request-Id": "trace"})
        told = processes.run(tmp_path, "explain", "trace", "--json", "--store", url)
        program.stop()

    assert told.returncode == 0, told.stderr
    assert [each["method"] for each in json.loads(told.stdout)["refusals"]] == ["PUT", "GET"]


async def test_a_terminal_without_unicode_gets_ascii(start_program, open_browser, tmp_path):
    program = start_program()
    page = await extra_slash(program, open_browser(program), program.demo())
    told = processes.run(
        tmp_path, "explain", page.headers["X-Request-Id"], PYTHONIOENCODING="ascii"
    )

    assert told.returncode == 0, told.stderr
    assert "NOT redirect_uri equals a registered one" in told.stdout


def test_an_id_that_nobody_has_ends_with_5_and_a_sentence(installed, tmp_path):
    told = run(tmp_path, "explain", "unknown")

    assert (told.returncode, told.stdout) == (5, "")
    assert told.stderr.startswith("idp: there is no refused request with this ID")


def test_where_nothing_was_set_up_nothing_is_made(tmp_path):
    told = run(tmp_path, "explain", "unknown")

    assert (told.returncode, told.stdout) == (5, "")
    assert list(tmp_path.iterdir()) == []


REMOTE = "not on the service that IDP_URL names. Run it on the machine of that service."


@pytest.mark.parametrize("words", [("explain", "unknown"), ("doctor",), ("audit", "verify")])
def test_a_command_that_reads_the_store_says_that_it_does_not_use_idp_url(
    installed, tmp_path, words
):
    done = run(tmp_path, *words, IDP_URL="https://login.example.com")

    assert REMOTE in done.stderr


def test_an_option_that_names_the_store_needs_no_note_about_idp_url(installed, tmp_path):
    done = run(
        tmp_path, "explain", "unknown", "--data", str(installed), IDP_URL="https://id.example"
    )

    assert REMOTE not in done.stderr


async def test_the_newest_refusal_is_explained_without_its_id(
    start_program, open_browser, tmp_path
):
    program = start_program()
    nothing = processes.run(tmp_path, "explain", "--last")
    await silent(program, open_browser(program), program.demo())
    await invented_token(program, open_browser(program), program.demo())
    last = processes.run(tmp_path, "explain", "--last", "--json")
    client_id = program.demo().client_id
    of_client = processes.run(tmp_path, "explain", "--last", "--client", client_id, "--json")
    of_nobody = processes.run(tmp_path, "explain", "--last", "--client", "nobody")

    assert json.loads(last.stdout)["refusals"][0]["endpoint"] == "userinfo"
    (refusal,) = json.loads(of_client.stdout)["refusals"]
    assert (refusal["endpoint"], refusal["clientId"]) == ("authorize", client_id)
    assert [nothing.returncode, of_nobody.returncode] == [5, 5]
    assert "no request of the application nobody was refused" in of_nobody.stderr


@pytest.mark.parametrize("words", [[], ["id", "--last"], ["--client", "demo"], ["--last", "id"]])
def test_either_an_id_or_the_newest_is_asked_for(installed, tmp_path, words):
    done = run(tmp_path, "explain", *words)

    assert done.returncode == 2
    assert "give a request ID, or --last" in done.stderr
