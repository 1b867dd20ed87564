"""A project is granted to another organization, call by call, and the grant is taken back."""

from __future__ import annotations

from dataclasses import dataclass

from idp.background import deferred_work
from idp.identity.users import grant_ids
from idp.records import PROJECT_GRANTS, ROLE_ASSIGNMENTS
from storage import META, SCHEMA_ID
from tests.fire.managing import owner
from tests.fire.run import Run
from tests.support.management.tenants import Tenants

READ_SINCE = 2  # the schema of the first programs that know grants


@dataclass
class Granting:
    """A project, its grant to another organization, and the roles of a user there."""

    run: Run
    here: Tenants

    def __post_init__(self) -> None:
        self.org_id, self.user_id = self.here.organizations["granted"], self.here.users["granted"]
        self.id = grant_ids.of_grant(self.here.project, self.org_id)
        self.grants = f"{self.here.path}/grants"
        self.assigning = f"/management/v1/users/{self.user_id}/grants"

    async def call(self, method: str, path: str, body: object, again: int = 200) -> None:
        """A call whose repetition is answered by `again` where it had been done."""
        owner = self.here.organizations["own"]
        org_id = self.org_id if path == self.assigning else owner
        page = await self.here.script.request(method, path, body, x_idp_orgid=org_id)
        is_repeated = self.run.was_interrupted and page.status == again
        assert page.status == 200 or is_repeated, page.text

    async def grant(self, *roles: str) -> None:
        """It is there with its roles, and closed to programs that ignore it."""
        body = {"grantedOrgId": self.org_id, "roleKeys": [*roles]}
        await self.call("POST", self.grants, body, again=409)
        store = self.run.place.store
        grant, schema = await store.get_many([(PROJECT_GRANTS, self.id), (META, SCHEMA_ID)])
        assert (grant.state, grant.role_keys) == ("active", [*roles])
        assert schema.oldest_reader >= READ_SINCE

    async def assigned(self) -> list[str]:
        """The user's roles, once what a process left that died has been gone through."""
        await deferred_work.process_due(self.run.place.service)
        id = grant_ids.of_assignment(self.user_id, self.here.project)
        found = await self.run.place.store.get(ROLE_ASSIGNMENTS, id)
        return found.role_keys if found else []

    async def tokens(self) -> dict:
        """What the application gets for the user."""
        tokens = await self.here.party.tokens(self.run.browser, *self.here.people["granted"])
        for name in ("access_token", "refresh_token"):
            self.run.keep(tokens[name])
        return tokens

    async def counts(self, tokens: dict) -> bool:
        token = tokens["access_token"]
        return (await self.here.party.userinfo(self.run.browser, token)).status == 200


async def a_project_is_granted(run: Run) -> None:
    """A grant is there with its event and the store's schema, or not at all; what was assigned by
    it ends with it, and so does what was issued by it, also when it is granted again."""
    run.is_safe_from_here()
    here = await Tenants(run.place, await owner(run)).make("buyer", "seller")
    run.keep(here.party.client_secret)
    await here.allow("GRANTED")
    granting = Granting(run, here)
    run.is_in_danger_from_here()
    await granting.grant("buyer", "seller")
    body = {"projectId": here.project, "projectGrantId": granting.id}
    await granting.call("POST", granting.assigning, body | {"roleKeys": ["buyer", "seller"]}, 409)
    await granting.call("PUT", f"{granting.grants}/{granting.id}", {"roleKeys": ["seller"]})
    run.is_safe_from_here()
    assert await granting.assigned() == ["seller"]


async def a_project_grant_is_taken_back(run: Run) -> None:
    """What was assigned and issued by it ends with it, and stays dead when it is granted again."""
    run.is_safe_from_here()
    here = await Tenants(run.place, await owner(run)).make("buyer")
    run.keep(here.party.client_secret)
    await here.allow("GRANTED")
    granting = Granting(run, here)
    await granting.grant("buyer")
    await here.assign("granted", "buyer")
    tokens = await granting.tokens()
    assert await granting.counts(tokens)
    one = f"{granting.grants}/{granting.id}"
    run.is_in_danger_from_here()
    await granting.call("POST", f"{one}/_deactivate", {}, again=400)
    assert not await granting.counts(tokens)
    await granting.call("POST", f"{one}/_reactivate", {}, again=400)
    await granting.call("DELETE", one, None, again=404)
    run.is_safe_from_here()
    assert await granting.assigned() == []
    await granting.grant("buyer")
    assert await granting.assigned() == []
    assert not await granting.counts(tokens)
    refused = await here.party.refresh(run.browser, tokens["refresh_token"])
    assert (refused.status, refused.json()["error"]) == (400, "invalid_grant")
