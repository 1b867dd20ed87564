"""Mail of the running program: once from several processes, and even after a crash."""

from __future__ import annotations

import asyncio
import re

import httpx
import pytest

from tests.support.patience import until
from tests.support.servers.mail_server import settings_for

SLOW = pytest.mark.gen_test(timeout=90)
pytestmark = pytest.mark.load


def variables(mail_server):
    """The settings of a program that sends by this server."""
    return {f"IDP_{name.upper()}": value for name, value in settings_for(mail_server).items()}


async def invite(program, pat, count):
    """Make people who are sent a mail."""
    headers = {"Authorization": f"Bearer {pat.read_text().strip()}"}
    async with httpx.AsyncClient(base_url=program.issuer, headers=headers) as client:
        for n in range(count):
            profile = {"givenName": "Nora", "familyName": "Muster"}
            body = {"profile": profile, "email": {"email": f"nora-{n}@acme.example"}}
            answer = await client.post("/v2/users/human", json=body)
            assert answer.json()["mail"] == "queued"


def code(mail):
    return re.search(r"^ +(\d{8})", mail.get_body(["plain"]).get_content(), re.MULTILINE)[1]


@SLOW
async def test_of_several_processes_one_sends_each_mail(start_program, mail_server, tmp_path):
    pat = tmp_path / "pat"
    flags = ("--processes", "2", "--admin-pat", str(pat))
    program = start_program(*flags, **variables(mail_server))
    await invite(program, pat, 20)
    await until(lambda: len(mail_server.raw_messages) >= 20)
    await asyncio.to_thread(program.stop)

    assert program.announcement["mail"] == {"state": "smtp", "url": None}
    assert len({each["To"] for each in mail_server.mails}) == len(mail_server.mails) == 20


@SLOW
async def test_what_a_killed_process_had_not_noted_is_sent_once_more_as_the_same_mail(
    start_program, new_mail_server, tmp_path
):
    pat, mail_server = tmp_path / "pat", await new_mail_server("hold", "250 taken")
    store = ("--store", f"sqlite:///{tmp_path}/idp.sqlite3", "--data", str(tmp_path), "--test")
    first = start_program(*store, "--admin-pat", str(pat), **variables(mail_server))
    await invite(first, pat, 1)
    await until(lambda: mail_server.raw_messages)
    await asyncio.to_thread(first.kill)

    # A mail names the host and port of the service that sends it.
    second = start_program(*store, "--port", str(first.port), **variables(mail_server))
    answer = httpx.post(f"{second.issuer}/test/clock", content='{"advance": "121s"}')
    assert answer.status_code == 200
    await until(lambda: len(mail_server.raw_messages) == 2)
    await asyncio.to_thread(second.stop)

    one, other = mail_server.mails
    assert one["Message-ID"] == other["Message-ID"]
    assert code(one) == code(other)
    assert mail_server.raw_messages[0] == mail_server.raw_messages[1]
