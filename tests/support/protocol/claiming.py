"""Organizations, projects and roles for tests of scopes, audiences and claims."""

from __future__ import annotations

from idp.foundation import opaque_tokens
from idp.identity.users import grant_ids, organizations
from idp.identity.users import lookup as user_lookup
from idp.records import (
    APPLICATIONS,
    ORGANIZATIONS,
    PROJECTS,
    ROLE_ASSIGNMENTS,
    USERS,
    Project,
    RoleAssignment,
)
from storage import Insert, Update
from tests.support.management.callers import new_caller
from tests.support.protocol.relying_party import RelyingParty

IAM = "urn:idp:iam:"
ALL_ROLES = f"{IAM}org:projects:roles"
ROLES = f"{IAM}org:project:roles"
SERVICE = f"{IAM}org:project:id:idp:aud"
INTROSPECT = "/oauth/v2/introspect"
SECRET = "a-secret-of-a-service-user"


def of_project(project_id: str) -> str:
    """The scope that requests a project's audience."""
    return f"{IAM}org:project:id:{project_id}:aud"


def roles_of(project_id: str) -> str:
    """The claim with the roles in a project."""
    return f"{IAM}org:project:{project_id}:roles"


async def user_of(server, login_name: str | None = None):
    return await user_lookup.find_by_login_name(server.service, login_name or server.user[0])


async def organization_of(server, login_name: str | None = None):
    return await server.store.get(ORGANIZATIONS, (await user_of(server, login_name)).org_id)


async def project_of(server, party) -> str:
    return (await server.store.get(APPLICATIONS, party.client_id)).project_id


async def add_organization(server, name: str):
    now, domain = server.clock.now(), f"{name.lower()}.example"
    made = organizations.new(server.service, name, domain, now)
    await server.store.commit(Insert(ORGANIZATIONS, made))
    return made


async def add_project(server, name: str = "Shop", org_id: str | None = None) -> str:
    """The id of a new project, by default of the demo's organization."""
    now = server.clock.now()
    made = Project(
        id=server.service.random.id(),
        org_id=org_id or (await organization_of(server)).id,
        name=name,
        created_at=now,
        changed_at=now,
    )
    await server.store.commit(Insert(PROJECTS, made))
    return made.id


async def assign(server, user_id: str, project_id: str, *keys: str) -> str:
    """Assigns roles in a project to a user; returns the assignment's id."""
    now = server.clock.now()
    project = await server.store.get(PROJECTS, project_id)
    made = RoleAssignment(
        id=grant_ids.of_assignment(user_id, project_id),
        user_id=user_id,
        project_id=project_id,
        org_id=project.org_id,
        role_keys=list(keys),
        created_at=now,
        changed_at=now,
    )
    await server.store.commit(Insert(ROLE_ASSIGNMENTS, made))
    return made.id


async def tokens_of(server, visitor, party, scope: str, **changes) -> dict:
    """The token response for the demo user, who signs in unless that was done before."""
    url = party.authorize_url(scope=scope, **changes)
    page = await visitor.get(url)
    if "code" not in page.answer:
        page = await party.sign_in(visitor, *server.user, scope=scope, **changes)
    return (await party.redeem(visitor, page.answer["code"])).json()


async def machine_of(server, visitor, **changes) -> RelyingParty:
    """A service user of the demo's organization, with a secret."""
    caller = await new_caller(server, visitor, await organization_of(server), "ORG_OWNER")
    values = {"secret_hash": opaque_tokens.digest(SECRET)} | changes
    await server.store.commit(Update(USERS, caller.user_id, set=values))
    return RelyingParty(server.issuer, caller.user_id, SECRET, "")


async def own_token(visitor, party, scope: str):
    """The answer to client credentials."""
    form = {"grant_type": "client_credentials", "scope": scope}
    return await visitor.post("/oauth/v2/token", form, headers=party.basic())


async def introspected(visitor, party, token: str) -> dict:
    return (await visitor.post(INTROSPECT, {"token": token}, headers=party.basic())).json()
