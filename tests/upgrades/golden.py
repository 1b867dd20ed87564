"""Makes the installation of a release: `python -m tests.upgrades.golden NAME`.

Run it with the release that is to be kept; it drives the service over HTTP and leaves in
`tests/upgrades/stores/NAME/` the SQLite file, the dump of the MongoDB database, and
`known-STORE.json` with what people, applications and browsers hold: passwords, tokens, cookies.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
import tempfile
from pathlib import Path

from tests.support.management.callers import instance_owner
from tests.support.protocol.device import Device, at_confirmation
from tests.support.protocol.exchanging import ACCESS, USER_ID
from tests.support.protocol.exchanging import GRANT as EXCHANGE_GRANT
from tests.support.protocol.relying_party import RelyingParty
from tests.support.servers.mongod import fresh_database, replica_set
from tests.support.sign_in import factors
from tests.support.sign_in.registering import at_code
from tests.support.sign_in.resetting import at_reset_code
from tests.upgrades import dumps
from tests.upgrades.installation import Installation, installation

STORES = Path(__file__).parent / "stores"
KEY = b"a master key of 32 octets, known"
CALLBACK = "http://localhost:3000/cb"
PASSWORD = "four green kettles hum"
GRANT_TYPES = [
    "OIDC_GRANT_TYPE_AUTHORIZATION_CODE",
    "OIDC_GRANT_TYPE_REFRESH_TOKEN",
    "OIDC_GRANT_TYPE_DEVICE_CODE",
    "OIDC_GRANT_TYPE_TOKEN_EXCHANGE",
]


class Golden:
    """What is made, step by step; `known` is what its owners hold afterwards."""

    def __init__(self, made: Installation) -> None:
        self.made = made
        self.known: dict = {}
        self.api = None

    async def call(self, method: str, path: str, body: object = None, **headers) -> dict:
        page = await self.api.request(method, path, body, **headers)
        assert page.status == 200, (path, page.text)
        return page.json()

    async def organization(self) -> None:
        """An organization with its owner, three people, a service user and policies."""
        self.api = await instance_owner(self.made.server, self.made.browser())
        self.known["owner_token"] = self.api.token
        human = {
            "userName": "anna",
            "profile": {"firstName": "Anna", "lastName": "Owner"},
            "password": PASSWORD,
            "email": {"email": "anna@acme.example", "isEmailVerified": True},
        }
        body = {"org": {"name": "Acme"}, "human": human}
        found = await self.call("POST", "/admin/v1/orgs/_setup", body)
        self.known["org"] = org = found["orgId"]
        self.known["anna"] = found["userId"]
        for name in ("max", "nora", "otto"):
            user = {
                "username": name,
                "password": {"password": PASSWORD},
                "profile": {"givenName": name.title(), "familyName": "Muster"},
                "email": {"email": f"{name}@acme.example", "isVerified": True},
            }
            made = await self.call("POST", "/v2/users/human", user, x_idp_orgid=org)
            self.known[name] = made["userId"]
        await factors.give_app(self.made.server, "otto")
        script = {"userName": "script", "name": "Script"}
        made = await self.call("POST", "/management/v1/users/machine", script, x_idp_orgid=org)
        path = f"/management/v1/users/{made['userId']}"
        self.known["pat"] = (await self.call("POST", f"{path}/pats", {}, x_idp_orgid=org))["token"]
        secret = await self.call("PUT", f"{path}/secret", {}, x_idp_orgid=org)
        self.known["script"] = [secret["clientId"], secret["clientSecret"]]
        await self.policies(org)

    async def policies(self, org: str) -> None:
        complexity = {"minLength": "10"}
        path = "/management/v1/policies/password/complexity"
        await self.call("POST", path, complexity, x_idp_orgid=org)
        lockout = {"maxPasswordAttempts": 7}
        await self.call("PUT", "/admin/v1/policies/lockout", lockout)
        await self.call("PUT", "/v2/features/instance", {"oidcTokenExchange": True})
        await self.call("PUT", "/admin/v1/policies/security", {"enableImpersonation": True})
        body = {"userId": self.known["nora"], "roles": ["ORG_OWNER"]}
        await self.call("POST", "/management/v1/orgs/me/members", body, x_idp_orgid=org)
        body = {"userId": self.known["max"], "roles": ["IAM_END_USER_IMPERSONATOR"]}
        await self.call("POST", "/admin/v1/members", body)

    async def applications(self) -> None:
        """A project with a role that somebody has, a web, a native and an API application."""
        org, path = self.known["org"], "/management/v1/projects"
        project = (await self.call("POST", path, {"name": "Shop"}, x_idp_orgid=org))["id"]
        path = f"{path}/{project}"
        role = {"roleKey": "buyer", "displayName": "Buyer"}
        await self.call("POST", f"{path}/roles", role, x_idp_orgid=org)
        assigned = {"projectId": project, "roleKeys": ["buyer"]}
        user = f"/management/v1/users/{self.known['max']}/grants"
        await self.call("POST", user, assigned, x_idp_orgid=org)
        web = {"name": "Web", "redirectUris": [CALLBACK], "grantTypes": GRANT_TYPES}
        self.known["web"] = await self.application(f"{path}/apps/oidc", web)
        native = {
            "name": "Native",
            "appType": "OIDC_APP_TYPE_NATIVE",
            "authMethodType": "OIDC_AUTH_METHOD_TYPE_NONE",
            "redirectUris": ["com.example.app:/cb"],
            "grantTypes": GRANT_TYPES[:2],
        }
        self.known["native"] = await self.application(f"{path}/apps/oidc", native)
        jwt = web | {"name": "JWT", "accessTokenType": "OIDC_TOKEN_TYPE_JWT"}
        self.known["jwt"] = await self.application(f"{path}/apps/oidc", jwt)
        api = {"name": "API", "authMethodType": "API_AUTH_METHOD_TYPE_BASIC"}
        self.known["api"] = await self.application(f"{path}/apps/api", api)
        self.known["project"] = project

    async def application(self, path: str, body: dict) -> list:
        made = await self.call(
            "POST", path, body, x_idp_orgid=self.known["org"], Idempotency_Key=f"make {body}"[:50]
        )
        uri = body.get("redirectUris", [""])[0]
        self.known["repeated_call"] = [path, body, f"make {body}"[:50], made]
        return [made["clientId"], made.get("clientSecret"), uri]

    def party(self, name: str) -> RelyingParty:
        return RelyingParty(self.made.server.issuer, *self.known[name])

    async def sign_ins(self) -> None:
        """People who are signed in, with tokens of every kind, and one who acts for another."""
        tokens = self.known["tokens"] = {}
        for app in ("web", "native", "jwt"):
            browser = self.made.browser()
            tokens[app] = await self.party(app).tokens(browser, "max", PASSWORD)
            self.known[f"{app}_browser"] = dict(browser.cookies)
        form = {
            "grant_type": EXCHANGE_GRANT,
            "subject_token": self.known["otto"],
            "subject_token_type": USER_ID,
            "actor_token": tokens["web"]["access_token"],
            "actor_token_type": ACCESS,
            "scope": "openid profile offline_access",
        }
        acting = await self.party("web").token(self.made.browser(), form)
        assert acting.status == 200, acting.text
        tokens["acting"] = acting.json()

    async def half_done(self) -> None:
        """What waits for a person or an application: each kind once."""
        waiting = self.known["waiting"] = {}
        web = self.party("web")
        browser = self.made.browser()
        page = await browser.open(web.authorize_url())
        waiting["login_name"] = _page(browser, page)
        browser = self.made.browser()
        page = await browser.submit(await browser.open(web.authorize_url()), loginName="nora")
        waiting["password"] = _page(browser, page)
        browser = self.made.browser()
        page = await browser.submit(await browser.open(web.authorize_url()), loginName="otto")
        page = await browser.submit(page, password=PASSWORD)
        assert page.name == "totp", page.text
        waiting["totp"] = _page(browser, page)
        browser = self.made.browser()
        page = await browser.sign_in(web.authorize_url(), "nora", PASSWORD)
        waiting["code"] = page.answer["code"]
        page = await browser.open("/oidc/v1/end_session")
        waiting["logout"] = _page(browser, page)
        pushed = await browser.post("/oauth/v2/par", web.authorize_form(), headers=web.basic())
        waiting["pushed"] = pushed.json()["request_uri"]
        for name in ("device", "device_allowed"):
            device = Device(web, self.made.browser())
            waiting[name] = await device.begin()
        browser = self.made.browser()
        page = await at_confirmation(browser, device.answer["user_code"], ("nora", PASSWORD))
        await browser.submit(page, decision="allow")
        await self.in_the_mail()

    async def in_the_mail(self) -> None:
        waiting, demo = self.known["waiting"], self.made.server.demo()
        browser = self.made.browser()
        page = await at_code(browser, demo, email="new@example.org")
        waiting["registration"] = _page(browser, page)
        browser = self.made.browser()
        page = await at_reset_code(browser, demo, "anna")
        waiting["reset"] = _page(browser, page)
        held = await browser.get("/dev/mail", headers={"Accept": "application/json"})
        waiting["mail"] = held.json()["result"]


def _page(browser, page) -> dict:
    """A page that a browser has open."""
    return {"cookies": dict(browser.cookies), "url": page.url, "hidden": page.hidden}


async def make(url: str) -> dict:
    """The installation in a new store. What its people and applications hold."""
    async with installation(url, KEY) as made:
        golden = Golden(made)
        await golden.organization()
        await golden.applications()
        await golden.sign_ins()
        await golden.half_done()
        now = made.server.clock.now()
    return golden.known | {"key": base64.b64encode(KEY).decode(), "at": now.isoformat()}


def main(name: str) -> None:
    folder = STORES / name
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "idp.sqlite3"
        known = asyncio.run(make(f"sqlite:///{file}"))
        dumps.keep_sqlite(file, folder / "sqlite.gz")
    (folder / "known-sqlite.json").write_text(json.dumps(known, indent=1) + "\n")
    with replica_set() as running, fresh_database(running.url) as url:
        known = asyncio.run(make(url))
        dumps.keep_mongodb(url, folder / "mongodb.gz")
    (folder / "known-mongodb.json").write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
