"""Connections over HTTP: what is made, kept, shown and refused."""

from __future__ import annotations

import pytest

from idp.background import deferred_work
from idp.management.connections import rules
from idp.management.organizations import removal as organization_removal
from idp.records import DOMAINS, EVENTS, new_domain
from idp.records.connections import CONNECTIONS, OFFERED_CONNECTIONS
from storage import Insert
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.management.connecting import ADMIN, Connecting
from tests.support.protocol.claiming import organization_of
from tests.support.samples.connections import OF_KINDS, OPTIONS
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything

SECRET = "a secret of the provider"


@pytest.fixture
def home(io_loop, server):
    """The first administrator's organization."""
    return io_loop.run_sync(lambda: organization_of(server))


@pytest.fixture
def connecting(owner, home):
    return Connecting(owner, home.id)


@pytest.fixture
def everywhere(owner):
    """Connections of the installation."""
    return Connecting(owner, None, ADMIN)


@pytest.mark.parametrize("kind", OF_KINDS)
async def test_a_connection_of_each_kind_is_made_shown_and_changed(server, connecting, kind):
    for n, body in enumerate(OF_KINDS[kind]):
        connection = await connecting.make(kind, {**body, "name": f"Corp {n}"})
        shown = await connecting.shown(connection)
        assert (shown["name"], shown["owner"]) == (f"Corp {n}", "IDP_OWNER_TYPE_ORG")
        before = await everything(server.store)

        await connecting.change(kind, connection, {**body, "name": f"Corp {n}"})

        now = await everything(server.store)
        is_secret = "clientSecret" in body
        assert (now == before) is not is_secret  # a secret that is sent is sealed anew
        changed = {**body, "name": f"Other {n}"}
        await connecting.change(kind, connection, changed)
        assert (await connecting.shown(connection))["name"] == f"Other {n}"
    await events_agree(server.store)


@pytest.mark.parametrize("kind", OF_KINDS)
async def test_no_secret_is_stored_or_told(server, connecting, kind):
    body = OF_KINDS[kind][0]
    connection = await connecting.make(kind, body)

    shown = await connecting.send("GET", f"/idps/templates/{connection}")
    found = await connecting.send("POST", "/idps/templates/_search", {})
    stored = repr(await everything(server.store))

    assert shown.json()["idp"]["hasClientSecret"] is True
    assert "secretChangedAt" in shown.json()["idp"]
    assert body["clientSecret"] not in shown.text + found.text + stored


async def test_a_secret_that_is_left_out_is_kept(server, connecting):
    body = OF_KINDS["google"][0]
    connection = await connecting.make("google", body)
    before = (await server.store.get(CONNECTIONS, connection)).sealed_secrets
    without = {name: value for name, value in body.items() if name != "clientSecret"}

    await connecting.change("google", connection, {**without, "clientId": "other"})

    record = await server.store.get(CONNECTIONS, connection)
    assert record.sealed_secrets == before
    assert record.settings.client_id == "other"


async def test_a_new_connection_needs_its_secret(server, connecting):
    body = {name: value for name, value in OF_KINDS["google"][0].items() if name != "clientSecret"}
    before = await everything(server.store)

    page = await connecting.send("POST", "/idps/google", body)

    assert refused(page, 400, 3) == {"clientSecret": "field.required"}
    assert await everything(server.store) == before


@pytest.mark.parametrize(
    ("preset", "issuer"),
    [
        ({"preset": "okta", "domain": "corp.okta.com"}, "https://corp.okta.com"),
        (
            {"preset": "okta", "domain": "corp.okta.com", "authorizationServer": "default"},
            "https://corp.okta.com/oauth2/default",
        ),
        (
            {"preset": "keycloak", "baseUrl": "https://kc.corp.example/", "realm": "staff"},
            "https://kc.corp.example/realms/staff",
        ),
    ],
)
async def test_a_preset_makes_the_issuer(connecting, preset, issuer):
    body = {"name": "Corp", "clientId": "idp", "clientSecret": SECRET, **preset}
    connection = await connecting.make("generic_oidc", body)

    assert (await connecting.shown(connection))["config"]["oidc"]["issuer"] == issuer
    other = {**body, "name": "Other", "issuer": "https://other.example"}
    page = await connecting.send("POST", "/idps/generic_oidc", other)
    assert refused(page, 400, 3) == {"issuer": "connection.options_contradict"}


@pytest.mark.parametrize(
    ("kind", "changes", "error_code"),
    [
        ("google", {"name": ""}, {"name": "field.empty"}),
        ("google", {"name": "x" * 201}, {"name": "field.too_long"}),
        ("google", {"id": "a/b"}, {"id": "connection.id"}),
        ("google", {"id": "templates"}, {"id": "connection.id"}),
        ("google", {"scopes": ["a b"]}, {"scopes[0]": "field.characters"}),
        ("google", {"hostedDomains": ["*"]}, {"hostedDomains[0]": "domain.invalid"}),
        ("google", {"issuer": "https://x.example"}, {"issuer": "field.unknown"}),
        ("generic_oidc", {"issuer": ""}, {"issuer": "field.required"}),
        ("generic_oidc", {"realm": "r"}, {"realm": "connection.options_contradict"}),
        ("generic_oidc", {"preset": "okta"}, {"domain": "field.required"}),
        (
            "generic_oidc",
            {"jwksUri": ""},
            {"authorizationEndpoint": "connection.options_contradict"},
        ),
        ("generic_oidc", {"idTokenAlgorithms": []}, {"idTokenAlgorithms": "field.too_few"}),
        (
            "generic_oidc",
            {"idTokenAlgorithms": ["HS256"]},
            {"idTokenAlgorithms[0]": "field.unknown_name"},
        ),
        ("azure", {"tenant": {"tenantId": "x"}}, {"tenant.tenantId": "connection.tenant"}),
    ],
)
async def test_settings_that_can_not_work_are_refused(
    server, connecting, kind, changes, error_code
):
    before = await everything(server.store)

    page = await connecting.send("POST", f"/idps/{kind}", {**OF_KINDS[kind][0], **changes})

    assert refused(page, 400, 3).items() >= error_code.items()
    assert await everything(server.store) == before


OPTION_MISTAKES = [
    (
        {"isAutoCreation": True, "isCreationAllowed": False},
        {"isAutoCreation": "connection.options_contradict"},
    ),
    ({"isAutoUpdate": True}, {"isAutoUpdate": "connection.auto_update"}),
    ({"autoLinking": "AUTO_LINKING_OPTION_EMAIL"}, {"autoLinking": "field.unknown_name"}),
    ({"mapping": {"email": ""}}, {"mapping.email": "field.empty"}),
    ({"mapping": {"email": ["a"] * 6}}, {"mapping.email": "field.too_many"}),
    ({"mapping": {"groups": "groups"}}, {"mapping.groups": "field.unknown"}),
    ({"trustUpstreamMfa": True}, {"trustUpstreamMfa": "field.unknown"}),
    ({"logoutUpstream": True}, {"logoutUpstream": "field.unknown"}),
    ({"linkingProof": "TRUSTED_EMAIL"}, {"linkingProof": "field.unknown"}),
]


@pytest.mark.parametrize(("changes", "expected"), OPTION_MISTAKES)
async def test_options_that_can_not_work_are_refused(server, connecting, changes, expected):
    before = await everything(server.store)
    body = {**OF_KINDS["google"][0], "providerOptions": {**OPTIONS, **changes}}

    page = await connecting.send("POST", "/idps/google", body)

    assert refused(page, 400, 3) == {f"providerOptions.{x}": y for x, y in expected.items()}
    assert await everything(server.store) == before


async def test_an_organization_names_domains_that_it_has_verified(server, connecting, home):
    now = server.clock.now()
    for domain, is_verified in {"good.example": True, "other.example": False}.items():
        record = new_domain(home.id, domain, now, is_verified=is_verified)
        await server.store.commit(Insert(DOMAINS, record))

    def body(**domains):
        return {**OF_KINDS["google"][0], "name": "Corp", "providerOptions": domains}

    page = await connecting.send(
        "POST",
        "/idps/google",
        body(domains=["good.example", "other.example"], trustedDomains=["nobodys.example"]),
    )
    assert refused(page, 400, 3) == {
        "providerOptions.domains[1]": "connection.domain_not_verified",
        "providerOptions.trustedDomains[0]": "connection.domain_not_verified",
    }
    page = await connecting.send("POST", "/idps/google", body(domains=["*"]))
    assert refused(page, 400, 3) == {"providerOptions.domains[0]": "domain.invalid"}
    made = await connecting.make("google", body(domains=["GOOD.example"]))
    assert (await server.store.get(CONNECTIONS, made)).domains == ("good.example",)


async def test_the_installation_names_any_domain(everywhere):
    options = {"domains": ["anybodys.example"], "trustedDomains": ["anybodys.example"]}

    made = await everywhere.make("google", {**OF_KINDS["google"][0], "providerOptions": options})

    shown = (await everywhere.shown(made))["config"]["options"]
    assert shown["domains"] == ["anybodys.example"]


async def test_a_name_exists_once_with_an_owner(server, connecting, everywhere):
    body = OF_KINDS["google"][0]
    await connecting.make("google", {**body, "name": "Corp"})
    other = await connecting.make("google", {**body, "name": "Other"})
    before = await everything(server.store)

    for name in ("Corp", "CORP"):
        page = await connecting.send("POST", "/idps/gitlab", {**body, "name": name})
        assert refused(page, 400, 3) if page.status == 400 else page.status == 409
    made = await connecting.send("POST", "/idps/google", {**body, "name": "corp"})
    changed = await connecting.send("PUT", f"/idps/google/{other}", {**body, "name": "corp"})

    assert refused(made, 409, 6) == {"name": "connection.name_taken"}
    assert refused(changed, 409, 6) == {"name": "connection.name_taken"}
    assert await everything(server.store) == before
    assert await everywhere.make("google", {**body, "name": "Corp"})


async def test_only_the_installation_chooses_an_id(server, visitor, home, everywhere):
    body = {**OF_KINDS["google"][0], "id": "corp"}
    owner = Connecting(await new_caller(server, visitor, home, "ORG_OWNER"))

    page = await owner.send("POST", "/idps/google", body)
    assert refused(page, 403, 7) == {"id": "connection.id_chosen"}
    assert await everywhere.make("google", body) == "corp"
    again = await everywhere.send("POST", "/idps/google", {**body, "name": "Other"})
    assert refused(again, 409, 6) == {"id": "connection.id_taken"}
    moved = await everywhere.send("PUT", "/idps/google/corp", {**body, "id": "other"})
    assert refused(moved, 400, 3) == {"id": "connection.id_fixed"}


async def test_there_is_a_limit(server, connecting, monkeypatch):
    monkeypatch.setattr(rules, "MAX_CONNECTIONS", 1)
    await connecting.make("google", OF_KINDS["google"][0])
    before = await everything(server.store)

    body = {**OF_KINDS["google"][0], "name": "Another"}
    page = await connecting.send("POST", "/idps/google", body)

    assert refused(page, 400, 9) == {"": "connection.too_many"}
    assert await everything(server.store) == before


async def test_a_connection_is_switched_off_and_on(server, connecting):
    connection = await connecting.make("google", OF_KINDS["google"][0])
    before = await server.store.get(CONNECTIONS, connection)

    await connecting.call("POST", f"/idps/{connection}/_deactivate", {})
    off = await server.store.get(CONNECTIONS, connection)
    assert (off.state, off.stamp == before.stamp) == ("inactive", False)
    again = await connecting.send("POST", f"/idps/{connection}/_deactivate", {})
    assert refused(again, 400, 9) == {"": "connection.state"}
    await connecting.call("POST", f"/idps/{connection}/_activate", {})
    on = await server.store.get(CONNECTIONS, connection)
    assert (on.state, on.stamp) == ("active", off.stamp)
    await events_agree(server.store)


async def test_sign_in_pages_offer_the_installations_connections_or_an_organizations_own(
    connecting, everywhere, server
):
    body = OF_KINDS["google"][0]
    of_all = await everywhere.make("google", {**body, "name": "All"})
    own = await connecting.make("google", {**body, "name": "Own"})
    offers = "/policies/login/idps"

    async def offered(which):
        found = await which.call("POST", f"{offers}/_search", {})
        return {one["id"] for one in found.get("result", [])}

    await everywhere.call("POST", offers, {"idpId": of_all, "ownerType": "IDP_OWNER_TYPE_SYSTEM"})
    assert await offered(connecting) == {of_all}
    await connecting.call("POST", offers, {"idpId": own})
    assert await offered(connecting) == {of_all, own}
    assert await offered(everywhere) == {of_all}
    await connecting.call("DELETE", f"{offers}/{of_all}")
    assert await offered(connecting) == {own}
    again = await connecting.send("DELETE", f"{offers}/{of_all}")
    assert refused(again, 404, 5) == {"": "connection.not_offered"}
    wrong = await connecting.send("POST", offers, {"idpId": of_all})
    assert refused(wrong, 404, 5) == {"idpId": "connection.not_found"}
    wrong = await everywhere.send("POST", offers, {"idpId": own})
    assert refused(wrong, 404, 5) == {"idpId": "connection.not_found"}
    await events_agree(server.store)


async def test_an_organization_takes_its_connections_along(server, owner):
    gone = await new_organization(server, "gone.example")
    connecting = Connecting(owner, gone.id)
    own = await connecting.make("google", OF_KINDS["google"][0])
    await connecting.call("POST", "/policies/login/idps", {"idpId": own})

    await owner.request("DELETE", f"/admin/v1/orgs/{gone.id}", None)
    await organization_removal.purge_deleted(server.service)
    await deferred_work.process_due(server.service)

    assert await server.store.count(CONNECTIONS, {}) == 0
    assert await server.store.count(OFFERED_CONNECTIONS, {}) == 0
    await events_agree(server.store)


async def test_another_organizations_connections_are_nobodys_business(
    server, visitor, connecting, everywhere
):
    body = OF_KINDS["google"][0]
    elsewhere = await new_organization(server, "other.example")
    stranger = Connecting(await new_caller(server, visitor, elsewhere, "ORG_OWNER"))
    for which in (connecting, everywhere):
        connection = await which.make("google", body)
        before = await everything(server.store)
        for method, path, sent in [
            ("GET", f"/idps/templates/{connection}", None),
            ("DELETE", f"/idps/templates/{connection}", None),
            ("PUT", f"/idps/google/{connection}", {**body, "name": "Mine"}),
            ("POST", f"/idps/{connection}/_activate", {}),
            ("POST", f"/idps/{connection}/_deactivate", {}),
        ]:
            page = await stranger.send(method, path, sent)
            assert page.status == 404, (method, path, page.text)
        assert "result" not in await stranger.call("POST", "/idps/templates/_search", {})
        assert await everything(server.store) == before


async def test_a_change_of_whom_it_trusts_is_an_event_with_both(server, connecting):
    body = OF_KINDS["gitlab_self_hosted"][0]
    connection = await connecting.make("gitlab_self_hosted", body)

    changed = {**body, "issuer": "https://evil.example"}
    await connecting.change("gitlab_self_hosted", connection, changed)

    page = await server.store.find(EVENTS, {"record_id": connection}, order="at")
    (event,) = [each for each in page.records if each.type == "connection.trust_changed"]
    payload = dict(event.payload)
    assert payload["authority.before"] == "https://git.corp.example"
    assert payload["authority.after"] == "https://evil.example"
