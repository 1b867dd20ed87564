"""The pages of a sign-in with another provider, which is the service itself: its people sign in
to an application of an organization that knows them by a connection."""

from __future__ import annotations

from urllib.parse import urlsplit

import httpx

from tests.support.protocol.relying_party import RelyingParty

CALLBACK = "https://trips.example/callback"
PASSWORD = "correct horse battery staple"  # noqa: S105 - of a test
CODE = {"grantTypes": ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE"]}


class Acme:
    """An organization with an application, a person, and a connection to the service itself."""

    def __init__(self, program) -> None:
        self.program = program
        program.acmes = getattr(program, "acmes", 0) + 1
        self.number, self.org = program.acmes, None

    def make(self, callback: str) -> RelyingParty:
        name = f"Acme {self.number}"
        client = self._app(name, f"{self.program.issuer}/idps/acme-{self.number}/callback")
        self.org = self._call("/management/v1/orgs", name=name)["id"]
        app = self._app("Trip planner", callback)
        self._call(
            "/v2/users/human",
            username=f"wendy{self.number}",
            email={"email": f"wendy{self.number}@trips.example", "isVerified": True},
            profile={"givenName": "Wendy", "familyName": "Darling"},
            password={"password": PASSWORD},
            organization={"orgId": self.org},
        )
        connection = self._call(
            "/management/v1/idps/generic_oidc",
            id=f"acme-{self.number}",
            name="Corp",
            issuer=self.program.issuer,
            clientId=client["clientId"],
            clientSecret=client["clientSecret"],
            providerOptions={"isLinkingAllowed": True, "isCreationAllowed": True},
        )
        self._call("/management/v1/policies/login/idps", idpId=connection["id"])
        return RelyingParty(self.program.issuer, app["clientId"], app["clientSecret"], callback)

    def offer_well_known(self) -> None:
        """Offers five more providers, all of them before the login name."""
        okta = {"preset": "okta", "domain": "corp.okta.com"}
        keycloak = {"preset": "keycloak", "baseUrl": "https://kc.corp.example", "realm": "staff"}
        kinds = (("google", {}), ("azure", {}), ("gitlab", {}))
        for kind, more in (*kinds, ("generic_oidc", keycloak), ("generic_oidc", okta)):
            connection = self._call(
                f"/management/v1/idps/{kind}",
                name=more.get("preset", kind).title(),
                clientId="client",
                clientSecret="secret",  # noqa: S106 - of a test
                **more,
            )
            self._call("/management/v1/policies/login/idps", idpId=connection["id"])
        self._call("/management/v1/policies/login", providersFirst=True)

    def _app(self, name: str, redirect_uri: str) -> dict:
        project = self._call("/management/v1/projects", name=name)["id"]
        path = f"/management/v1/projects/{project}/apps/oidc"
        return self._call(path, name=name, redirectUris=[redirect_uri], **CODE)

    def _call(self, path: str, **body) -> dict:
        headers = {
            "Host": urlsplit(self.program.issuer).netloc,
            "Authorization": f"Bearer {self.program.announcement['adminPat']}",
        }
        if self.org:
            headers["x-idp-orgid"] = self.org
        base = getattr(self.program, "listens_at", self.program.issuer)
        answer = httpx.post(base + path, json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.json()


def offered(person, callback=CALLBACK):
    person.page.goto(Acme(person.program).make(callback).authorize_url())


def offered_first(person):
    acme = Acme(person.program)
    party = acme.make(CALLBACK)
    acme.offer_well_known()
    person.page.goto(party.authorize_url())


def nobody_yet(person, callback=CALLBACK):
    offered(person, callback)
    with person.page.expect_navigation():
        person.page.locator("#providers button").first.click()
    login_name, password = person.program.user
    person.sign_in(login_name, password)


def names_refused(person):
    nobody_yet(person)
    person.fill(userName=" ", givenName=" ", familyName=" ")
    person.press("Create account")


def to_be_linked(person, callback=CALLBACK):
    nobody_yet(person, callback)
    person.press("Sign in to your account and link it")
    person.sign_in(f"wendy{person.program.acmes}", PASSWORD)


def own_links(person):
    """Of the person who has linked one, at the pages of their account."""
    to_be_linked(person, f"{person.program.issuer}/readyz")
    person.press("Link this account")
    person.context.clear_cookies()
    person.go("/ui/account/linked")
    person.sign_in(f"wendy{person.program.acmes}@trips.example", PASSWORD)


def own_link(person):
    own_links(person)
    person.press("Remove")


# name of the state: (who is signed in, data-page, whether it reports a problem, the way there)
STATES = {
    "login name, other providers": ("nobody", "login-name", False, offered),
    "login name, other providers first": ("nobody", "login-name", False, offered_first),
    "provider, nobody is linked": ("nobody", "idp-account", False, nobody_yet),
    "provider, names refused": ("nobody", "idp-account", True, names_refused),
    "provider, link": ("nobody", "idp-link", False, to_be_linked),
    "own links": ("nobody", "account/linked", False, own_links),
    "own link, remove": ("nobody", "account/form", False, own_link),
}
