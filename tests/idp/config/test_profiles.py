"""Which defaults hold in which profile, and that what is given counts more."""

import pytest

from idp.config.loading import load
from idp.config.profiles import PUBLIC, TRIAL
from idp.config.settings import Config

PUBLIC_ISSUER = "https://login.example.com"


@pytest.mark.parametrize(
    ("settings", "is_public"),
    [
        ({}, False),
        ({"issuer": "http://127.0.0.1:9000"}, False),
        ({"issuer": PUBLIC_ISSUER}, True),
        ({"profile": "public"}, True),
        ({"profile": "public", "test": True}, True),
        ({"test": True}, False),
    ],
)
def test_the_profile_follows_the_issuer_unless_it_is_given(settings, is_public):
    assert Config(**settings).is_public is is_public


@pytest.mark.promise("start: profiles")
@pytest.mark.parametrize("name", TRIAL._fields)
@pytest.mark.parametrize(("issuer", "defaults"), [("", TRIAL), (PUBLIC_ISSUER, PUBLIC)])
def test_a_default_is_that_of_the_profile(name, issuer, defaults):
    assert getattr(Config(issuer=issuer), name) == getattr(defaults, name)


@pytest.mark.promise("start: profiles")
@pytest.mark.parametrize("name", TRIAL._fields)
@pytest.mark.parametrize(("issuer", "other"), [("", PUBLIC), (PUBLIC_ISSUER, TRIAL)])
def test_a_setting_that_is_given_counts_more_than_the_profile(name, issuer, other):
    value = getattr(other, name)
    text = str(value).lower() if isinstance(value, bool) else str(value)

    config = load({"issuer": issuer}, {f"IDP_{name.upper()}": text}).config

    assert getattr(config, name) == value
