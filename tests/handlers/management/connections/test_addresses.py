"""No field of a connection takes an address that leads into a closed network, or is not encrypted
(security.md is for operators; this is the table of what is refused)."""

from __future__ import annotations

import pytest

from idp.records import INSTANCE_ID, INSTANCES
from tests.support.browsers.https_proxy import Through
from tests.support.management.callers import refused
from tests.support.management.connecting import Connecting
from tests.support.samples.connections import OF_KINDS
from tests.support.store.stored import everything

# Hosts and paths after the scheme.
HOSTILE = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "0.0.0.0",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[fd00::1]",
    "[fe80::1]",
    "[2002:7f00:1::]",
    "localhost",
    "service.localhost",
    "localhost.",
    "user:password@corp.example",
    "corp.example:22",
    "corp.example:25",
    "corp.example:99999",
    "corp.example\\@127.0.0.1",
    "corp.example#@127.0.0.1",
    "corp.example/\u2028",
    "b\u00fccher.example",
    "",
]
OTHER_SCHEMES = [
    "http://corp.example",
    "file:///etc/passwd",
    "gopher://corp.example",
    "ftp://corp.example",
    "javascript:alert(1)",
    "//corp.example",
    "corp.example",
]
FIELDS = [
    ("generic_oidc", "issuer"),
    ("generic_oidc", "authorizationEndpoint"),
    ("generic_oidc", "tokenEndpoint"),
    ("generic_oidc", "userinfoEndpoint"),
    ("generic_oidc", "jwksUri"),
    ("gitlab_self_hosted", "issuer"),
]


@pytest.fixture
def settings():
    """A public installation: no network is opened, and addresses are encrypted."""
    return {"issuer": "https://id.corp.example", "allow_trial_network": True}


@pytest.fixture
def visitor(server, new_visitor):
    return new_visitor(transport=Through(server.service.config.port))


@pytest.fixture
def connecting(io_loop, server, owner):
    instance = io_loop.run_sync(lambda: server.store.get(INSTANCES, INSTANCE_ID))
    return Connecting(owner, instance.org_id)


@pytest.mark.promise("connections: addresses")
@pytest.mark.parametrize(("kind", "field"), FIELDS)
async def test_an_address_into_a_closed_network_is_refused(server, connecting, kind, field):
    urls = [*(f"https://{host}" for host in HOSTILE), *OTHER_SCHEMES]
    before = await everything(server.store)

    for url in urls:
        page = await connecting.send("POST", f"/idps/{kind}", {**OF_KINDS[kind][0], field: url})
        assert page.status == 400, (url, page.text)
        found = refused(page, 400, 3)
        expected = ("connection.address", "field.characters")
        assert found.get(field) in expected, (url, found)
    assert await everything(server.store) == before


@pytest.mark.promise("connections: addresses")
async def test_a_host_of_a_preset_is_checked_too(server, connecting):
    common = {"name": "Corp", "clientId": "idp", "clientSecret": "s"}
    for field, preset in {
        "baseUrl": {"preset": "keycloak", "baseUrl": "https://10.0.0.1", "realm": "r"},
        "domain": {"preset": "okta", "domain": "10.0.0.1"},
    }.items():
        page = await connecting.send("POST", "/idps/generic_oidc", {**common, **preset})
        found = refused(page, 400, 3)
        assert found.get(field) in ("connection.address", "domain.invalid"), found
