"""The issuer: its one plain form, when it may be plain HTTP, and the one that is derived."""

from __future__ import annotations

import pytest

from idp.config.loading import load
from idp.config.settings import Config
from idp.foundation.errors import ConfigError


def problem_of(issuer):
    with pytest.raises(ConfigError) as refused:
        load({"issuer": issuer}, {})
    (problem,) = refused.value.problems
    return problem


@pytest.mark.parametrize(
    "issuer",
    [
        "https://login.example.com",
        "https://login.example.com:8443",
        "https://xn--mller-kva.example",
        "https://192.168.1.20",
        "https://[2001:db8::1]:8443",
        "http://localhost",
        "http://localhost:8080",
        "http://id.localhost:8080",
        "http://127.0.0.1:8080",
        "http://127.1.2.3",
        "http://[::1]:8080",
    ],
)
def test_an_issuer_is_https_or_on_this_machine(issuer):
    config = load({"issuer": issuer}, {}).config

    assert config.issuer == issuer
    assert config.is_secure == issuer.startswith("https:")
    assert config.is_loopback == issuer.startswith("http:")


@pytest.mark.promise("discovery: issuer")
@pytest.mark.parametrize(
    "issuer",
    [
        "login.example.com",
        "//login.example.com",
        "ftp://login.example.com",
        "HTTPS://login.example.com",
        "https:login.example.com",
        "https://",
        "https://login.example.com/",
        "https://login.example.com/a",
        "https://login.example.com/a/",
        "https://login.example.com//a",
        "https://login.example.com/../a",
        "https://login.example.com/a/..",
        "https://login.example.com/a b",
        "https://login.example.com/%61",
        "https://login.example.com?x",
        "https://login.example.com#x",
        "https://login.example.com?",
        "https://login.example.com#",
        "https://user@login.example.com",
        "https://user:word@login.example.com",
        "https://Login.example.com",
        "https://login.example.com:443",
        "http://localhost:80",
        "https://login.example.com:",
        "https://login.example.com:x",
        "https://login.example.com:70000",
        "https://login..example.com",
        "https://-login.example.com",
        "https://login_example.com",
        "https://müller.example",
        "https://login.example.com\n",
        "https://login.exam\tple.com",
        "https://login.example.com\\a",
        "https://[::1",
        "https://[0:0:0:0:0:0:0:1]",
        "https://010.0.0.1",
        "https://1.2.3",
    ],
)
def test_an_issuer_has_one_plain_form(issuer):
    problem = problem_of(issuer)

    assert problem.startswith("issuer ")
    assert "user:word" not in problem


@pytest.mark.parametrize(
    "issuer",
    ["http://login.example.com", "http://192.168.1.20:8080", "http://localhost.example.com"]
    + ["http://128.0.0.1", "http://xlocalhost", "http://[2001:db8::1]"],
)
def test_plain_http_beyond_this_machine_must_be_asked_for(issuer):
    problem = problem_of(issuer)

    assert "insecure_http" in problem
    assert load({"issuer": issuer, "insecure_http": True}, {}).config.issuer == issuer


def test_the_derived_issuer_follows_the_port_and_tls():
    tls = {"tls_cert": "a", "tls_key": "b"}

    assert load({"port": 9000}, {}).config.issuer == "http://localhost:9000"
    assert load({"port": 80}, {}).config.issuer == "http://localhost"
    assert load(tls, {}).config.issuer == "https://localhost:8080"
    assert load(tls | {"port": 443}, {}).config.issuer == "https://localhost"


def test_a_free_port_becomes_part_of_the_derived_issuer_only():
    derived = load({"port": 0}, {}).config.bound_to(4711)
    given = load({"port": 0, "issuer": "https://id.example.com"}, {}).config.bound_to(4711)

    assert (derived.port, derived.issuer) == (4711, "http://localhost:4711")
    assert (given.port, given.issuer) == (4711, "https://id.example.com")


def test_the_origin_leaves_out_the_path():
    assert Config(issuer="https://example.com:8443/auth").origin == "https://example.com:8443"
