"""The reserved scopes are read by one table, with the vendor of the settings."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idp.oauth import reserved_scopes
from idp.oauth.reserved_scopes import Reserved

CONFIG = SimpleNamespace(vendor="idp", issuer="https://id.example")
VALUES = st.text("abcXYZ019:-._{}", min_size=1, max_size=30)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("org:project:role:admin", Reserved.ROLE, "admin"),
        ("org:project:role:a:b", Reserved.ROLE, "a:b"),
        ("org:projects:roles", Reserved.ROLES, ""),
        ("org:roles:id:1", Reserved.ROLES_OF, "1"),
        ("org:id:1", Reserved.ORGANIZATION, "1"),
        ("org:domain:primary:a.example", Reserved.DOMAIN, "a.example"),
        ("org:project:id:1:aud", Reserved.AUDIENCE, "1"),
        ("user:metadata", Reserved.METADATA, ""),
        ("user:resourceowner", Reserved.RESOURCE_OWNER, ""),
    ],
)
def test_a_reserved_scope_is_read_with_its_value(text, kind, value):
    assert reserved_scopes.read(CONFIG, [f"urn:idp:iam:{text}"]) == {kind: [value]}


@settings(deadline=None)
@given(st.sampled_from(list(Reserved)), VALUES)
def test_what_is_written_is_read(kind, value):
    written = reserved_scopes.scope(CONFIG, kind, value)

    assert reserved_scopes.read(CONFIG, [written]) == {kind: [value if "{}" in kind else ""]}


@pytest.mark.parametrize(
    "scope",
    [
        "openid",
        "urn:idp:iam",
        "urn:idp:iam:",
        "urn:other:iam:user:metadata",
        "URN:idp:iam:user:metadata",
        "urn:idp:iam:user:metadata:",
        "urn:idp:iam:user:metadat",
        "urn:idp:iam:User:metadata",
        "urn:idp:iam:org:id:",
        "urn:idp:iam:org:project:role:",
        "urn:idp:iam:org:project:id::aud",
        "urn:idp:iam:org:project:id:1",
        "urn:idp:iam:org:project:id:aud",
        "urn:idp:iam:org:idp:id:1",
        "urn:idp:iam:org:id:" + "1" * 201,
    ],
)
def test_everything_else_is_none_of_them(scope):
    assert reserved_scopes.read(CONFIG, [scope]) == {}
    assert not reserved_scopes.is_reserved(CONFIG, scope)


def test_the_audience_of_the_vendor_is_the_service_itself():
    scope = "urn:idp:iam:org:project:id:{}:aud"

    assert reserved_scopes.audience(CONFIG, scope.format("idp")) == "https://id.example"
    assert reserved_scopes.audience(CONFIG, scope.format("1")) == "1"
    assert reserved_scopes.audience(CONFIG, "openid") is None


@pytest.mark.parametrize(
    ("scopes", "admitted"),
    [
        ([], True),
        (["org:id:1"], True),
        (["org:id:2"], False),
        (["org:id:1", "org:id:2"], False),
        (["org:domain:primary:a.example"], True),
        (["org:domain:primary:A.Example"], True),
        (["org:domain:primary:b.example"], False),
        (["org:id:1", "org:domain:primary:b.example"], False),
        (["org:roles:id:2"], True),
    ],
)
def test_a_user_has_to_be_of_every_organization_that_is_named(scopes, admitted):
    organization = SimpleNamespace(id="1", primary_domain="a.example")
    sent = [f"urn:idp:iam:{scope}" for scope in scopes]

    assert reserved_scopes.admit(CONFIG, sent, organization) is admitted
