"""The manual at /docs: every call, every field, every error code, and commands that work."""

from __future__ import annotations

import re
import subprocess

import pytest

from idp.api import OPERATIONS, manual
from idp.error_catalogue import ERROR_CODES
from idp.schema.reading import declared
from tests.support.management.callers import instance_owner
from tests.support.pages.rendered import Page

PAGES = ["/docs", "/docs/errors", *manual.titles()]


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_of_the_manual_is_whole_and_may_be_read_by_everybody(visitor, path):
    page = await visitor.get(path)
    html = Page(page.text)

    assert (page.status, html.mistakes, html.open) == (200, [], [])
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"


@pytest.mark.full
async def test_every_link_of_the_manual_leads_somewhere(visitor):
    read = {path: Page((await visitor.get(path)).text) for path in PAGES}
    ids = {path: {each.get("id") for each in page.elements} for path, page in read.items()}

    for path, page in read.items():
        for link in page.all("a"):
            if "hreflang" in link:  # the same page in another language
                continue
            target, _, anchor = link["href"].partition("#")
            if target == "/openapi.json":
                continue
            assert (target or path) in ids, link
            assert not anchor or anchor in ids[target or path], link


async def test_the_manual_shows_every_call_with_its_permission_and_its_fields(visitor):
    text = {path: (await visitor.get(path)).text for path in manual.titles()}
    everything = "".join(text.values())

    for call in OPERATIONS:
        assert f"<code>{call.method} {call.path}</code>" in everything
        assert call.permission in everything
        for field in declared(call.request) if call.request else ():
            assert f"<code>{field.wire_name}</code>" in everything, (call.path, field)


async def test_the_catalogue_has_every_error_code_where_errors_say_it_does(server, visitor):
    page = Page((await visitor.get("/docs/errors")).text)
    owner = await instance_owner(server, visitor)
    refused = (await owner.post("/management/v1/projects", {"nmae": "Shop"})).json()

    assert {each["id"] for each in page.all("dt")} == set(ERROR_CODES)
    helps = [each["help"] for each in refused["details"] if "help" in each]
    assert helps == [
        f"{server.issuer}/docs/errors#field.unknown",
        f"{server.issuer}/docs/errors#field.required",
    ]


@pytest.mark.full
async def test_a_command_of_the_manual_works_as_it_is_printed(server, visitor, io_loop):
    owner = await instance_owner(server, visitor)
    (call,) = (one for one in OPERATIONS if one.name == "projects_create")
    command = manual.command(call, server.issuer)

    ran = await io_loop.run_in_executor(
        None,
        lambda: subprocess.run(
            ["/bin/sh", "-c", f"{command} -s -w '%{{http_code}}'"],
            env={"TOKEN": owner.token, "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        ),
    )

    assert re.search(r"200$", ran.stdout), ran


def test_a_body_with_an_apostrophe_stays_one_word_of_the_shell():
    assert manual.quoted("it's") == "'it'\\''s'"
