"""The page for somebody who is signed in and may not use the application."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys

import msgspec
import pytest

from idp.identity.users import grant_ids
from idp.oauth.endpoints import refusal_records
from idp.records import REFUSALS
from tests.support.management.callers import instance_owner
from tests.support.management.tenants import Tenants
from tests.support.measured.logged import log_fixture  # noqa: F401 - a fixture
from tests.support.protocol.device import Device, type_code


@pytest.fixture
def here(io_loop, server, visitor):
    async def make():
        tenants = await Tenants(server, await instance_owner(server, visitor)).make()
        await tenants.allow("OWN_ORGANIZATION")
        return tenants

    return io_loop.run_sync(make)


async def shut_out(here, browser):
    page = await browser.sign_in(here.party.authorize_url(), *here.people["foreign"])
    assert (page.name, page.status) == ("not-allowed", 403), page.text
    return page


async def test_it_names_the_application_and_the_account_and_has_one_form(here, new_visitor):
    page = await shut_out(here, new_visitor())

    assert "Shop" in page.text
    assert here.people["foreign"][0].partition("@")[0] in page.text
    assert page.text.count('method="post"') == page.text.count('<form id="step"') == 1


@pytest.mark.promise("application users: page")
async def test_no_user_learns_of_it_before_they_have_authenticated(here, new_visitor):
    browser = new_visitor()
    page = await browser.open(here.party.authorize_url())
    page = await browser.submit(page, loginName=here.people["foreign"][0])
    assert page.name == "password"
    wrong = await browser.submit(page, password="wrong horse")

    assert wrong.name == "password"
    ahead = await browser.open(page.url.replace("/password", "/not-allowed"))
    assert ahead.name == "password"


@pytest.mark.promise("application users: page")
async def test_cancelling_informs_the_application_that_access_is_denied(here, new_visitor):
    browser = new_visitor()
    page = await shut_out(here, browser)

    answer = (await browser.submit(page, decision="cancel")).answer

    assert answer["error"] == "access_denied"


@pytest.mark.promise("application users: page")
async def test_another_account_may_go_on_from_there(here, new_visitor):
    browser, (login_name, password) = new_visitor(), here.people["own"]
    page = await shut_out(here, browser)

    page = await browser.submit(page, account="other")
    assert page.name == "login-name"
    page = await browser.submit(page, loginName=login_name)
    page = await browser.submit(page, password=password)

    assert "code" in page.answer


@pytest.mark.promise("application users: page")
async def test_the_rule_is_stored_for_explain(server, here, new_visitor):
    await shut_out(here, new_visitor())

    (refusal,) = (await server.store.find(REFUSALS, {})).records
    assert refusal.checks[-1].name == "user_allowed"
    assert not refusal.checks[-1].passed
    assert "its own organization (allowedUsers)" in refusal.sentence


async def test_a_device_is_not_let_in_and_cancel_denies_it(here, new_visitor):
    browser = new_visitor()
    device = Device(here.party, browser)
    page = await type_code(browser, (await device.begin())["user_code"])
    page = await browser.submit(page, loginName=here.people["foreign"][0])
    page = await browser.submit(page, password=here.people["foreign"][1])
    assert (page.name, page.status) == ("not-allowed", 403)

    await browser.submit(page, decision="cancel")

    assert (await device.poll()).json()["error"] == "access_denied"


@pytest.mark.promise("application users: page")
async def test_it_shows_the_number_by_which_the_refusal_is_explained_and_logged(
    server, here, new_visitor, log
):
    page = await shut_out(here, new_visitor())

    (refusal,) = (await server.store.find(REFUSALS, {})).records
    assert page.headers["X-Request-Id"] == refusal.request_id
    assert f">{refusal.request_id}</code>" in page.text
    lines = [msgspec.json.decode(line) for line in log.getvalue().splitlines()]
    (line,) = [one for one in lines if one["event"] == "user may not use application"]
    assert line["request_id"] == refusal.request_id
    assert line["cause"] == refusal.sentence
    assert (line["client_id"], line["user_id"]) == (refusal.client_id, here.users["foreign"])


async def run(server, here, line):
    """Runs a command line as an administrator of everything, in no organization of its own."""
    words = shlex.split(line.replace("ROLE", "buyer"))
    assert words.pop(0) == "idp"
    process = await asyncio.create_subprocess_exec(
        *[sys.executable, "-m", "idp", *words],
        env={**os.environ, "IDP_URL": server.issuer, "IDP_TOKEN": here.script.token},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    printed, _ = await process.communicate()
    assert process.returncode == 0, (line, printed.decode())


async def own_organization(here):
    await here.allow("OWN_ORGANIZATION")


async def own_organization_with_grant(here):
    await here.grant("buyer")
    await here.allow("OWN_ORGANIZATION")


async def own_organization_with_project_check(here):
    await here.check(hasProjectCheck=True)
    await here.allow("OWN_ORGANIZATION")


async def granted(here):
    await here.allow("GRANTED")


async def granted_and_suspended(here):
    await here.allow("GRANTED")
    await here.call("POST", f"{await here.grant('buyer')}/_deactivate", {})


async def project_check(here):
    await here.allow("EVERYBODY")
    await here.check(hasProjectCheck=True)


async def role_check(here):
    await here.allow("EVERYBODY")
    await here.check(projectRoleCheck=True)


async def role_by_suspended_grant(here):
    grant = await here.grant("buyer")
    await here.assign("granted", "buyer")
    await here.call("POST", f"{grant}/_deactivate", {})
    await role_check(here)


CONFIGURE = "idp app configure --project {project} {app} --allowed-users"
GRANT = "idp project-grant create --project {project} --granted-org-id {org} --org {own}"
REACTIVATE = "idp project-grant reactivate --project {project} {reactivated}"
ASSIGN = "idp grant create --user {user} --project {project} --role-key ROLE"
GRANTED, EVERYBODY = f"{CONFIGURE} granted --org {{own}}", f"{CONFIGURE} everybody --org {{own}}"


def id_and_org(grant_id, org):
    """How a command line passes them: an id that begins with `-` comes last."""
    return f"--org {org} -- {grant_id}" if grant_id.startswith("-") else f"{grant_id} --org {org}"


@pytest.mark.promise("application users: page")
@pytest.mark.full
@pytest.mark.parametrize(
    ("rule", "who", "cure"),
    [
        (own_organization, "foreign", [GRANTED, GRANT]),
        (own_organization, "foreign", [EVERYBODY]),
        (own_organization_with_grant, "granted", [GRANTED]),
        (own_organization_with_project_check, "foreign", [GRANTED, GRANT]),
        (granted, "foreign", [GRANT]),
        (granted_and_suspended, "granted", [REACTIVATE]),
        (project_check, "foreign", [GRANT]),
        (role_check, "own", [f"{ASSIGN} --org {{own}}"]),
        (role_check, "foreign", [ASSIGN]),
        (role_by_suspended_grant, "granted", [REACTIVATE]),
    ],
)
async def test_the_commands_of_the_fix_let_the_user_in(server, here, new_visitor, rule, who, cure):
    role = {"roleKey": "buyer", "displayName": "Buyer"}
    await here.call("POST", f"{here.path}/roles", role, here.organizations["own"])
    await rule(here)
    project, org = here.path.rpartition("/")[2], here.organizations[who]
    ids = {
        "project": project,
        "app": here.app.rpartition("/")[2],
        "own": here.organizations["own"],
        "org": org,
        "user": here.users[who],
        "reactivated": id_and_org(grant_ids.of_grant(project, org), here.organizations["own"]),
    }
    lines = [line.format_map(ids) for line in cure]
    page = await new_visitor().sign_in(here.party.authorize_url(), *here.people[who])
    assert page.name == "not-allowed"

    refusal = await refusal_records.newest(server)
    for line in lines:
        await run(server, here, line)
    page = await new_visitor().sign_in(here.party.authorize_url(), *here.people[who])

    assert " together with ".join(lines) in refusal.fix
    can_be_open = rule in (own_organization, own_organization_with_grant)
    assert (EVERYBODY.format_map(ids) in refusal.fix) == can_be_open
    assert "code" in page.answer, page.text


async def test_a_token_that_ended_by_the_rule_is_explained_with_the_same_fix(
    server, here, new_visitor
):
    await here.allow("EVERYBODY")
    browser = new_visitor()
    tokens = await here.party.tokens(browser, *here.people["foreign"])
    await here.allow("OWN_ORGANIZATION")

    refused = await here.party.refresh(browser, tokens["refresh_token"])
    userinfo = await here.party.userinfo(browser, tokens["access_token"])

    assert (refused.status, userinfo.status) == (400, 401)
    kept = (await server.store.find(REFUSALS, {})).records
    assert [f"--granted-org-id {here.organizations['foreign']}" in one.fix for one in kept] == [
        True
    ] * 2
