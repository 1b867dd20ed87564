"""Sign-ins at providers whose addresses the kind of a connection names: Google and Microsoft Entra
ID, which this process stands for."""

from __future__ import annotations

import pytest

from idp.records import SESSIONS, USERS
from idp.records.identity_links import IDENTITY_LINKS
from idp.upstream.presets import addresses
from tests.support.sign_in.federating import AT_ONCE, NAMES

TENANT = "11111111-2222-4333-8444-555555555555"
FOREIGN = "99999999-2222-4333-8444-555555555555"
OBJECT = "aaaaaaaa-2222-4333-8444-555555555555"
REFUSED, FAILED = "can&#39;t be used with Corp", "did not work"


@pytest.fixture
def connect(unconnected, provider, monkeypatch):
    """Make a connection of a kind, whose fixed addresses are those of the provider here."""
    monkeypatch.setattr(addresses, "AZURE_LOGIN", provider.issuer)
    monkeypatch.setattr(addresses, "GOOGLE_ISSUER", provider.issuer)

    async def make(kind, **settings):
        await unconnected.make(kind, **settings, providerOptions=AT_ONCE)
        return unconnected

    return make


def entra(provider, tenant=TENANT, **claims):
    """An ID token as Entra ID makes it for a user of a tenant."""
    provider.claims = {
        **NAMES,
        "iss": addresses.azure_issuer(tenant),
        "tid": tenant,
        "oid": OBJECT,
        **claims,
    }


async def external_id(server):
    (link,) = (await server.store.find(IDENTITY_LINKS)).records
    return link.external_id


async def nobody_came_in(server):
    return not await server.store.count(IDENTITY_LINKS) and not await server.store.count(SESSIONS)


@pytest.mark.promise("connections: sign-in")
async def test_a_user_of_one_tenant_is_known_by_the_object_id(server, provider, connect):
    federation = await connect("azure", tenant={"tenantId": TENANT})
    provider.discovery = {"issuer": addresses.azure_issuer(TENANT)}
    entra(provider)

    page = await federation.sign_in()

    assert "code" in page.answer, page.text
    assert await external_id(server) == OBJECT


@pytest.mark.promise("connections: sign-in")
async def test_a_user_of_several_tenants_is_known_by_tenant_and_object_id(
    server, provider, connect
):
    federation = await connect(
        "azure", tenant={"tenantType": "AZURE_AD_TENANT_TYPE_ORGANISATIONS"}
    )
    provider.discovery = {"issuer": addresses.azure_issuer("{tenantid}")}
    provider.of_keys = {"issuer": addresses.azure_issuer("{tenantid}")}
    entra(provider)

    page = await federation.sign_in()

    assert "code" in page.answer, page.text
    assert await external_id(server) == f"{TENANT}:{OBJECT}"


FOREIGNERS = {
    "another tenant than the allowed": (lambda p: entra(p, FOREIGN), REFUSED),
    "tid that is not in iss": (lambda p: entra(p, tid=FOREIGN), FAILED),
    "no tid": (lambda p: entra(p, tid=None), FAILED),
    "tid that is a number": (lambda p: entra(p, tid=1), FAILED),
    "iss with the template": (
        lambda p: entra(p, iss=addresses.azure_issuer("{tenantid}")),
        FAILED,
    ),
    "no oid": (lambda p: entra(p, oid=None), FAILED),
    "oid that is a number": (lambda p: entra(p, oid=1), FAILED),
    "oid without characters": (lambda p: entra(p, oid=""), FAILED),
}


@pytest.mark.promise("connections: refused")
@pytest.mark.parametrize("case", FOREIGNERS)
async def test_users_of_other_tenants_do_not_come_in(server, provider, connect, case):
    prepare, text = FOREIGNERS[case]
    federation = await connect(
        "azure",
        tenant={"tenantType": "AZURE_AD_TENANT_TYPE_ORGANISATIONS"},
        allowedTenants=[TENANT],
    )
    provider.discovery = {"issuer": addresses.azure_issuer("{tenantid}")}
    provider.userinfo = {"oid": OBJECT, "tid": TENANT}  # counts for nothing
    prepare(provider)

    page = await federation.sign_in()

    assert (page.name, text in page.text) == ("login-name", True), page.text
    assert await nobody_came_in(server)


@pytest.mark.promise("connections: refused")
async def test_a_key_of_one_tenant_signs_for_no_other(server, provider, connect):
    federation = await connect(
        "azure", tenant={"tenantType": "AZURE_AD_TENANT_TYPE_ORGANISATIONS"}
    )
    provider.discovery = {"issuer": addresses.azure_issuer("{tenantid}")}
    provider.of_keys = {"issuer": addresses.azure_issuer(FOREIGN)}
    entra(provider)

    page = await federation.sign_in()

    assert FAILED in page.text
    assert await nobody_came_in(server)


@pytest.mark.promise("connections: refused")
@pytest.mark.parametrize("states", ["other.example", None, 1, ["corp.example"], "corp.example."])
async def test_google_users_of_other_domains_do_not_come_in(server, provider, connect, states):
    federation = await connect("google", hostedDomains=["corp.example"])
    left = await federation.leave(await federation.begin())
    assert left.answer["hd"] == "corp.example"
    provider.claims = {**NAMES, "hd": states}
    provider.userinfo = {"hd": "corp.example"}  # counts for nothing

    page = await federation.come_back(left)

    assert (page.name, REFUSED in page.text) == ("login-name", True), page.text
    assert await nobody_came_in(server)


@pytest.mark.parametrize(
    ("hosted", "is_verified"), [("corp.example", True), ("other.example", False), (None, False)]
)
async def test_google_vouches_for_addresses_of_the_hosted_domain_alone(
    server, provider, connect, hosted, is_verified
):
    federation = await connect("google")
    await federation.verify_domain("corp.example")
    await federation.change({**AT_ONCE, "trustedDomains": ["corp.example"]})
    provider.claims = {
        **NAMES,
        "hd": hosted,
        "email": "ada@corp.example",
        "email_verified": True,
    }

    page = await federation.sign_in()

    assert "code" in page.answer, page.text
    (link,) = (await server.store.find(IDENTITY_LINKS)).records
    email = (await server.store.get(USERS, link.user_id)).email
    assert (email.address, email.is_verified) == ("ada@corp.example", is_verified)


@pytest.mark.parametrize("hosted", ["bücher.example", "xn--bcher-kva.example"])
async def test_google_vouches_for_addresses_of_an_internationalised_domain_in_every_spelling(
    server, provider, connect, hosted
):
    federation = await connect("google", hostedDomains=["bücher.example"])
    await federation.verify_domain("xn--bcher-kva.example")
    await federation.change({**AT_ONCE, "trustedDomains": ["bücher.example"]})
    provider.claims = {
        **NAMES,
        "hd": hosted,
        "email": "ada@bücher.example",
        "email_verified": True,
    }

    page = await federation.sign_in()

    assert "code" in page.answer, page.text
    (link,) = (await server.store.find(IDENTITY_LINKS)).records
    assert (await server.store.get(USERS, link.user_id)).email.is_verified


@pytest.mark.parametrize(
    ("edov", "is_verified"), [(True, True), ("1", True), (None, False), ("0", False), ([], False)]
)
async def test_entra_vouches_for_an_address_by_the_claim_of_the_owned_domain(
    server, provider, connect, edov, is_verified
):
    federation = await connect("azure", tenant={"tenantId": TENANT})
    await federation.verify_domain("corp.example")
    await federation.change({**AT_ONCE, "trustedDomains": ["corp.example"]})
    provider.discovery = {"issuer": addresses.azure_issuer(TENANT)}
    # What Entra ID does not send proves nothing there.
    entra(provider, email="ada@corp.example", email_verified=True, xms_edov=edov)

    page = await federation.sign_in()

    assert "code" in page.answer, page.text
    (link,) = (await server.store.find(IDENTITY_LINKS)).records
    assert (await server.store.get(USERS, link.user_id)).email.is_verified is is_verified
