"""Every page of the console is found by links, and shows the lines that do the same in a shell."""

from __future__ import annotations

import html
import re
import shlex
from collections import Counter

import pytest

from handlers.console import ROUTES
from tests.support.browsers.visitor import Visitor
from tests.support.commands_table import leaves
from tests.support.management import console
from tests.support.management.api_world import World
from tests.support.management.callers import instance_owner

LINES = re.compile(r'<pre class="fix"[^>]*><code>(.*?)</code></pre>', re.DOTALL)
LEAVES = {path[1:]: command for path, command in leaves()}
ADDRESSES = [each[0] for each in ROUTES]
ACTIONS = [each[2]["action"] for each in ROUTES if len(each) > 2 and "action" in each[2]]
# Where somebody signs in, or looks at pages: that is for a browser alone.
# The page of new connections leads to those of each kind, which have the commands.
# That of branding leads those who may change it to its form.
IN_A_BROWSER = ("/test", "/account", "/preview", "/connections/new", "/policies/branding")


async def filled_console(server, visitor):
    """The administrator's pages, in an organization that has one of everything."""
    owner = await instance_owner(server, visitor)
    world = await World(server, Visitor(server.issuer), owner).make()
    user = f"/management/v1/users/{world.machine}"
    application = f"/management/v1/projects/{world.project}/apps/{world.app}"
    again = f"{application}/oidc_config/_generate_client_secret"
    await world.made(f"{user}/secret", None, "PUT")
    await world.made(f"{user}/secret", None, "PUT", overlap="24h")
    await world.made(again, None, overlap="24h")
    for path in (f"{user}/pats", f"{user}/keys", f"{application}/keys"):
        await world.made(path, None)
    await world.made(f"/management/v1/users/{world.user}/metadata/k", None, value="eA==")
    await world.made("/management/v1/policies/lockout", None, maxPasswordAttempts=9)
    await world.made("/management/v1/orgs/me/domains", None, domain="more.example")
    await world.made("/management/v1/orgs/me/members", None, **member_of(world))
    await world.made(
        f"/management/v1/users/{world.user}/grants",
        None,
        projectId=world.project,
        roleKeys=[world.names["role"]],
    )
    await console.admin(server, visitor)
    return f"/ui/console?org={world.own.id}"


def member_of(world):
    return {"userId": world.machine, "roles": ["ORG_OWNER_VIEWER"]}


async def every_page(visitor, start):
    """Two of each page that links lead to from here."""
    ahead, seen, count = [start], {start}, Counter()
    while ahead:
        address = ahead.pop()
        kind = next(each for each in ADDRESSES if re.fullmatch(each, address.partition("?")[0]))
        count[kind] += 1
        if count[kind] > 2:
            continue
        page = await visitor.get(address)
        yield kind, address, page
        found = map(html.unescape, re.findall(r'href="(/ui/console[^"]*)"', page.text))
        new = [each for each in found if each not in seen and not is_file(each)]
        seen.update(new)
        ahead += new


def is_file(address):
    return "/download" in address or ".csv" in address


def check_command(line):
    """The program would not refuse the line for its form."""
    words = shlex.split(line)
    length = next(n for n in (2, 3, 4) if tuple(words[1:n]) in LEAVES)
    LEAVES[tuple(words[1:length])].make_context("idp", words[length:])


def test_whatever_can_be_done_has_a_command_line():
    assert len(ACTIONS) > 80

    for action in ACTIONS:
        check_command("idp " + re.sub(r"\{\w+\}", "x", action.command))


@pytest.mark.full
async def test_every_page_is_there_and_shows_a_command_and_a_curl_line(server, visitor):
    start, met, silent = await filled_console(server, visitor), set(), set()

    async for kind, address, page in every_page(visitor, start):
        met.add(kind)
        assert page.status == (303 if kind.endswith("/branding") else 200), address
        lines = "\n\n".join(map(html.unescape, LINES.findall(page.text))).split("\n\n")
        if {"idp", "curl"} - {line.partition(" ")[0] for line in lines}:
            silent.add(kind)
        for line in lines:
            if line.startswith("idp "):
                check_command(line)

    assert len(met) > 80
    assert [kind for kind in silent if not kind.endswith(IN_A_BROWSER)] == []
