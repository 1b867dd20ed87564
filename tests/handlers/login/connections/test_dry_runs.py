"""The test of a connection: what it shows, that it changes nothing, and that it works once."""

from __future__ import annotations

import json

import pytest

from idp.records import EVENTS, SESSIONS, USERS
from idp.records.connection_tests import CONNECTION_TESTS
from idp.records.identity_links import IDENTITY_LINKS
from tests.support.sign_in.dry_running import dry_run, failed, result_of, started
from tests.support.sign_in.federating import ALL, AT_ONCE, NAMES, closed_network, unknown_name
from tests.support.sign_in.hostile_provider import ACCESS_TOKEN, CLIENT_SECRET
from tests.support.store.audit import events_agree
from tests.support.store.both_stores import on_both_stores, store_as_marked  # noqa: F401
from tests.support.store.stored import everything

PERSON = {**NAMES, "email": "ada@corp.example", "email_verified": True}
LINKING = {"isLinkingAllowed": True}


@pytest.mark.promise("connections: dry run")
@on_both_stores
async def test_an_inactive_connection_is_tested_and_nothing_is_changed_but_the_test(
    server, federation, provider
):
    provider.claims = {**PERSON, "nonce_of_others": "n", "idp_access_token": ACCESS_TOKEN}
    provider.userinfo = {"nickname": "Countess"}
    await federation.connecting.call("POST", f"/idps/{federation.connection}/_deactivate", {})
    before, cookies = await everything(server.store), dict(federation.visitor.cookies.items())

    result = await dry_run(federation)

    after = await everything(server.store)
    changed = {name for name, records in after.items() if records != before.get(name)}
    assert changed == {CONNECTION_TESTS.name, EVENTS.name, "replay"}
    assert dict(federation.visitor.cookies.items()) == cookies
    assert result["state"] == "finished"
    assert {each["outcome"] for each in result["checks"]} == {"passed"}
    assert (
        result["checks"][0]["says"]
        == "the connection has not been changed since the sign-in began"
    )
    claims = {each["name"]: (each["value"], each["source"]) for each in result["claims"]}
    assert claims["email"] == ('"ada@corp.example"', "id_token")
    assert claims["nickname"] == ('"Countess"', "userinfo")
    fields = {each["field"]: (each["value"], each["claim"]) for each in result["fields"]}
    assert fields["userName"] == ("ada", "preferred_username")
    assert fields["nickName"] == ("Countess", "nickname")
    assert (result["externalId"], result["emailTrust"]) == ("person-1", "domain_not_trusted")
    assert result["decision"]["outcome"] == "ask"
    shown = json.dumps(result)
    assert ACCESS_TOKEN not in shown
    assert CLIENT_SECRET not in shown
    assert provider.id_token().split(".")[2] not in shown
    await events_agree(server.store)


async def test_tokens_are_neither_shown_nor_stored_at_any_depth(server, federation, provider):
    """Distributed and aggregated claims (OpenID Connect Core 5.6.2) hold tokens by design."""
    signed = "eyJhbGciOiJub25lIn0.eyJwbGFudGVkIjoxfQ."
    provider.userinfo = {
        "_claim_sources": {"s": {"endpoint": "https://corp.example", "access_token": "planted-1"}},
        "credential": signed,
        "job": {"title": "Countess", "session": {"refreshToken": "planted-2"}, "of": [signed]},
    }
    mapping = {"nickName": "/job/session/refreshToken", "displayName": "/job/title"}
    await federation.change({**LINKING, "mapping": mapping})

    result = await dry_run(federation)

    claims = {each["name"]: each["value"] for each in result["claims"]}
    assert claims["job"] == '{"title":"Countess","session":{},"of":[]}'
    fields = {each["field"]: each["value"] for each in result["fields"]}
    assert fields["displayName"] == "Countess"
    assert "nickName" not in fields
    shown = json.dumps(result)
    assert "planted" not in shown
    assert signed not in shown


OUTCOMES = {
    # options, the claims, whether the person is linked, the outcome
    "no option": ({}, PERSON, False, "refuse"),
    "linking alone": (LINKING, PERSON, False, "ask"),
    "creation": (ALL, PERSON, False, "ask"),
    "creation at once": (AT_ONCE, PERSON, False, "create"),
    "creation at once, without names": (AT_ONCE, {}, False, "ask"),
    "creation at once, a taken name": (
        AT_ONCE,
        {**PERSON, "preferred_username": "{user}"},
        False,
        "ask",
    ),
    "linked": ({}, PERSON, True, "sign_in"),
}


@pytest.mark.promise("connections: dry run")
@pytest.mark.parametrize("case", OUTCOMES)
async def test_the_decision_is_that_of_the_sign_in_that_follows(
    server, federation, provider, new_visitor, case
):
    options, claims, is_linked, outcome = OUTCOMES[case]
    user = (await server.store.find(USERS)).records[0].user_name
    provider.claims = {
        name: value.format(user=user) if isinstance(value, str) else value
        for name, value in claims.items()
    }
    if is_linked:
        await federation.change(AT_ONCE)
        await federation.sign_in(new_visitor())
    await federation.change(options)
    users = await server.store.count(USERS)

    decision = (await dry_run(federation))["decision"]

    assert decision["outcome"] == outcome
    assert await server.store.count(USERS) == users
    page = await federation.sign_in(new_visitor())
    is_created = await server.store.count(USERS) > users
    assert is_created == (outcome == "create")
    assert ("code" in page.answer) == (outcome in ("create", "sign_in")), page.text
    if outcome == "ask":
        assert ("Create account" in page.text) == decision.get("mayCreate", False)
    if is_linked:
        (link,) = (await server.store.find(IDENTITY_LINKS)).records
        assert decision["userId"] == link.user_id
    reasons = bool(decision.get("problems"))
    assert reasons == ("without names" in case or "taken" in case)


TRUST = {
    "trusted": ({}, ["corp.example"], "trusted"),
    "not among the trusted domains": ({}, [], "domain_not_trusted"),
    "not verified": ({"email_verified": False}, ["corp.example"], "not_verified"),
    "none": ({"email": None}, ["corp.example"], "none"),
}


async def test_why_an_address_is_trusted_or_not_is_stated(federation, provider):
    await federation.verify_domain("corp.example")
    for changes, domains, trust in TRUST.values():
        await federation.change({**AT_ONCE, "trustedDomains": domains})
        provider.claims = {**PERSON, **changes}

        assert (await dry_run(federation))["emailTrust"] == trust


@pytest.mark.parametrize(
    "address", ["ada@xn--bcher-kva.example", "ada@bücher.example", "Ada@BÜCHER.example"]
)
async def test_an_internationalised_address_is_trusted_in_every_spelling(
    federation, provider, address
):
    await federation.verify_domain("xn--bcher-kva.example")
    await federation.change({**AT_ONCE, "trustedDomains": ["bücher.example"]})
    provider.claims = {**PERSON, "email": address}

    assert (await dry_run(federation))["emailTrust"] == "trusted"


REFUSED = {
    "another audience": ({"claims": {"aud": "other"}}, {}, "id_token_audience"),
    "another nonce": ({"claims": {"nonce": "other"}}, {}, "id_token_nonce"),
    "expired": ({"claims": {"exp": 1}}, {}, "id_token_current"),
    "no token": ({"answers": {"/token": (400, b"{}")}}, {}, "code_redeemed"),
    "another person": ({"userinfo": {"sub": "p2"}}, {}, "userinfo_matches"),
    "an error": ({}, {"code": None, "error": "access_denied"}, "answer_without_error"),
    "no code": ({}, {"code": None}, "answer_without_error"),
    "another issuer": ({}, {"iss": "https://other.example"}, "answer_from_provider"),
}


SHORT = ("another nonce", "another person", "an error", "another issuer")


@pytest.mark.promise("connections: dry run")
@pytest.mark.parametrize(
    "case",
    [pytest.param(each, marks=() if each in SHORT else pytest.mark.load) for each in REFUSED],
)
async def test_the_check_that_does_not_hold_is_named_and_those_after_it_are_unknown(
    server, federation, provider, case
):
    prepared, changes, name = REFUSED[case]
    for member, value in prepared.items():
        setattr(provider, member, value)
    sessions = await server.store.count(SESSIONS)

    result = await dry_run(federation, **changes)

    assert failed(result) == [name]
    (found,) = [each for each in result["checks"] if each["name"] == name]
    assert found["details"]
    assert found["fix"]
    position = result["checks"].index(found)
    assert {each["outcome"] for each in result["checks"][:position]} <= {"passed"}
    assert {each["outcome"] for each in result["checks"][position + 1 :]} == {"unknown"}
    assert result["decision"]["outcome"] == "refuse"
    assert await server.store.count(SESSIONS) == sessions


async def test_a_provider_that_can_t_be_used_ends_the_test_before_the_browser_leaves(
    federation, provider
):
    provider.answers["/.well-known/openid-configuration"] = (503, b"{}")
    test, url = await started(federation)

    page = await federation.visitor.submit(await federation.visitor.open(url))

    assert (page.status, page.name) == (200, "connection-test")
    assert failed(await result_of(federation, test)) == ["provider_reached"]


async def test_which_names_a_closed_network_has_is_not_revealed(server, federation):
    found = []

    await federation.change(issuer="https://wiki.corp.internal")
    for resolve in (closed_network, unknown_name):
        server.service.outgoing._resolve = resolve
        test, url = await started(federation)
        await federation.visitor.submit(await federation.visitor.open(url))
        (each,) = [
            each
            for each in (await result_of(federation, test))["checks"]
            if each["outcome"] == "failed"
        ]
        found.append(each)

    assert found[0] == found[1]
    assert "169.254" not in json.dumps(found)
