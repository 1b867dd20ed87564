"""Three organizations over HTTP: one owns a project, one is granted it, one has no access to
it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from tests.support.management.api_samples import PROJECTS, SET_UP, organization
from tests.support.protocol.relying_party import RelyingParty

REDIRECT_URI = "https://shop.example/cb"
PASSWORD = "seven green kettles hum"
GRANTS = [
    "OIDC_GRANT_TYPE_AUTHORIZATION_CODE",
    "OIDC_GRANT_TYPE_REFRESH_TOKEN",
    "OIDC_GRANT_TYPE_DEVICE_CODE",
    "OIDC_GRANT_TYPE_TOKEN_EXCHANGE",
]
SETTINGS = {"redirectUris": [REDIRECT_URI], "grantTypes": GRANTS}


@dataclass
class Tenants:
    """`script` may do everything. `people` are login name and password by organization: own,
    granted, foreign."""

    place: object
    script: object
    organizations: dict = field(default_factory=dict)
    people: dict = field(default_factory=dict)
    users: dict = field(default_factory=dict)

    async def make(self, *roles: str) -> Tenants:
        for who in ("own", "granted", "foreign"):
            await self._organization(who)
        own = self.organizations["own"]
        self.project = (await self.call("POST", PROJECTS, {"name": "Shop"}, own))["id"]
        for key in roles:
            body = {"roleKey": key, "displayName": key}
            await self.call("POST", f"{PROJECTS}/{self.project}/roles", body, own)
        app = await self.call("POST", f"{self.path}/apps/oidc", {"name": "Shop", **SETTINGS}, own)
        self.app = f"{self.path}/apps/{app['appId']}"
        self.party = RelyingParty(
            self.place.issuer, app["clientId"], app["clientSecret"], REDIRECT_URI, ""
        )
        await self.call("PUT", "/v2/features/instance", {"oidcTokenExchange": True})
        return self

    @property
    def path(self) -> str:
        return f"{PROJECTS}/{self.project}"

    async def _organization(self, who: str) -> None:
        name = f"{who}-{secrets.token_hex(6)}"
        body = organization(name)
        body["org"] = {"name": name, "domain": f"{name}.example"}
        self.organizations[who] = (await self.call("POST", SET_UP, body))["orgId"]
        login_name = f"{name}@{name}.example"
        human = {
            "userName": name,
            "profile": {"firstName": "Per", "lastName": who.title()},
            "email": {"email": login_name, "isEmailVerified": True},
            "password": PASSWORD,
        }
        path = "/management/v1/users/human/_import"
        user = await self.call("POST", path, human, self.organizations[who])
        self.people[who], self.users[who] = (login_name, PASSWORD), user["userId"]

    async def call(self, method: str, path: str, body: object, org: str | None = None) -> dict:
        headers = {"x-idp-orgid": org} if org else {}
        page = await self.script.request(method, path, body, **headers)
        assert page.status == 200, page.text
        return page.json()

    async def allow(self, users: str) -> None:
        """Sets the users who may use the application."""
        body = {**SETTINGS, "allowedUsers": f"OIDC_ALLOWED_USERS_{users}"}
        await self.call("PUT", f"{self.app}/oidc_config", body)

    async def check(self, **checks: bool) -> None:
        """Sets the checks of the project."""
        await self.call("PUT", self.path, {"name": "Shop", **checks})

    async def grant(self, *keys: str) -> str:
        """Grants the project to the second organization; returns the grant's address."""
        body = {"grantedOrgId": self.organizations["granted"], "roleKeys": list(keys)}
        made = await self.call("POST", f"{self.path}/grants", body)
        return f"{self.path}/grants/{made['grantId']}"

    async def assign(self, who: str, *keys: str) -> str:
        """Assigns roles in the project to the person; returns the assignment's address."""
        path, org = f"/management/v1/users/{self.users[who]}/grants", self.organizations[who]
        body = {"projectId": self.project, "roleKeys": list(keys)}
        made = await self.call("POST", path, body, org)
        return f"{path}/{made['userGrantId']}"
