"""`idp apply` at a service brings about what the caller's roles allow, and nothing else."""

from __future__ import annotations

import asyncio

import pytest
from click.testing import CliRunner

from idp.cli import main
from idp.identity.users import memberships
from idp.records import APPLICATIONS, USERS
from idp.start import exit_codes
from storage import Update
from tests.support.management.callers import instance_owner, new_caller, new_organization
from tests.support.sign_in.people import create
from tests.support.store.stored import everything

APPLICATION = "{name: A, redirectUris: ['https://a.example/cb']"
# Each is one step that is above an owner of the organization Own, in which an administrator of the
# installation lives and an application has management access.
STATES = {
    "features": "features: {oidcTokenExchange: true}",
    "security": "security: {enableImpersonation: true}",
    "the installation's policy": "policies: {passwordComplexity: {minLength: 12}}",
    "an administrator": "members: [{user: script, roles: [IAM_OWNER]}]",
    "a new organization": "organizations: [{name: Mine}]",
    "another organization": "organizations: [{name: other.example, projects: [{name: Q}]}]",
    "how an administrator signs in": (
        "organizations: [{name: own.example, policies: {passwordComplexity: {minLength: 12}}}]"
    ),
    "management access": (
        "organizations: [{name: own.example, projects: [{name: P, applications: ["
        + APPLICATION
        + ", managementAccess: true}]}]}]"
    ),
    "an application that has it": (
        "organizations: [{name: own.example, projects: [{name: Managed, applications: ["
        + APPLICATION
        + "}]}]}]"
    ),
    "an administrator's name": (
        "organizations: [{name: own.example, serviceUsers: [{userName: root, name: R}]}]"
    ),
}
# What the file leaves out is to be deleted.
PRUNED = {
    "an application that has it": (
        "organizations: [{name: own.example, projects: [{name: Managed, applications: []}]}]"
    ),
    "its project": "organizations: [{name: own.example, projects: [{name: P}]}]",
    "an administrator": (
        "organizations: [{name: own.example, serviceUsers: [{userName: CALLER, name: Script}]}]"
    ),
}


@pytest.fixture
def caller(io_loop, server, visitor):
    """Somebody who owns the organization."""

    async def make():
        own = await new_organization(server, "own.example")
        await new_organization(server, "other.example")
        owner, here = await instance_owner(server, visitor), {"x-idp-orgid": own.id}
        machine = {"userName": "root", "name": "Root"}
        made = await owner.post("/management/v1/users/machine", machine, **here)
        root = made.json()["userId"]
        await memberships.grant(server.service, root, None, "IAM_OWNER", actor="a test")
        await create(owner, username="ada", organization={"orgId": own.id})
        for name in ("P", "Managed"):
            page = await owner.post("/management/v1/projects", {"name": name}, **here)
        apps = f"/management/v1/projects/{page.json()['id']}/apps/oidc"
        app = (await owner.post(apps, {"name": "A"}, **here)).json()["clientId"]
        await server.store.commit(Update(APPLICATIONS, app, set={"has_management_access": True}))
        return await new_caller(server, visitor, own, "ORG_OWNER")

    return io_loop.run_sync(make)


async def applied(server, caller, tmp_path, state, *flags):
    file = tmp_path / "state.yaml"
    file.write_text(state)
    settings = {"IDP_URL": server.issuer, "IDP_TOKEN": caller.token}
    arguments = ["apply", "-f", str(file), "--yes", *flags]
    return await asyncio.to_thread(CliRunner().invoke, main, arguments, env=settings)


@pytest.mark.promise("lower roles: indirectly")
@pytest.mark.parametrize(
    ("name", "flags"),
    [*((each, ()) for each in STATES), *((each, ("--prune",)) for each in PRUNED)],
)
async def test_a_state_above_its_caller_is_refused_and_changes_nothing(
    server, caller, tmp_path, name, flags
):
    user = await server.store.get(USERS, caller.user_id)
    state = (PRUNED if flags else STATES)[name].replace("CALLER", user.user_name)
    before = await everything(server.store)

    ran = await applied(server, caller, tmp_path, state, *flags)

    assert ran.exit_code == exit_codes.NOT_AUTHORISED, ran.output
    assert await everything(server.store) == before


async def test_what_the_caller_may_is_brought_about(server, caller, tmp_path):
    state = "organizations: [{name: own.example, projects: [{name: New}]}]"

    ran = await applied(server, caller, tmp_path, state)

    assert ran.exit_code == exit_codes.OK, ran.output
    assert "project New" in ran.output
