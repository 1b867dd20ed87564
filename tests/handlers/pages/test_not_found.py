"""Addresses that the service does not have, and its own with two slashes before them."""

from __future__ import annotations

import pytest

SAID = "the issuer was typed with a slash at its end"
PROGRAM = {"Accept": "application/json"}
OTHERS = ["/nothing", "//nothing", "//oauth/v2/nothing", "/oauth//v2/token"]
OURS = [
    "/.well-known/openid-configuration",
    "/oauth/v2/authorize?client_id=x",
    "/oauth/v2/token",
    "/oauth/v2/keys",
    "/oidc/v1/userinfo",
    "/ui/login",
    "/v2/users/x",
    "/docs",
]


@pytest.mark.promise("discovery: two slashes")
@pytest.mark.parametrize("path", OURS)
@pytest.mark.parametrize("slashes", ["/", "//"])
async def test_an_address_of_ours_after_two_slashes_names_the_slash_of_the_issuer(
    server, visitor, path, slashes
):
    page = await visitor.get(
        server.issuer + slashes + path, headers={"Accept": "application/json"}
    )

    assert page.status == 404
    assert page.json()["error"] == "invalid_request"
    assert page.json()["error_description"].endswith(SAID)


@pytest.mark.promise("discovery: two slashes")
async def test_a_post_after_two_slashes_names_the_slash_of_the_issuer(server, visitor):
    page = await visitor.post(
        f"{server.issuer}//oauth/v2/token", {"grant_type": "x"}, headers={"Accept": "*/*"}
    )

    assert page.status == 404
    assert page.json()["error_description"].endswith(SAID)


@pytest.mark.promise("discovery: two slashes")
async def test_a_browser_reads_it_on_the_page(server, visitor):
    page = await visitor.get(
        f"{server.issuer}//oauth/v2/authorize?x=1", headers={"Accept": "text/html"}
    )

    assert (page.status, page.name) == (404, "error")
    assert SAID in page.text


@pytest.mark.parametrize("path", OTHERS)
@pytest.mark.parametrize("kind", ["application/json", "text/html"])
async def test_an_address_that_is_not_ours_says_nothing_of_slashes(server, visitor, path, kind):
    page = await visitor.get(server.issuer + path, headers={"Accept": kind})

    assert page.status == 404
    assert "slash" not in page.text
