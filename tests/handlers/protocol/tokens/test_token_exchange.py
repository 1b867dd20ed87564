"""Token exchange (RFC 8693): which token is issued for which."""

from __future__ import annotations

from datetime import timedelta

import pytest

from idp.records import APPLICATIONS, AUTHORIZATIONS
from storage import Update
from tests.support.attacks.forged import part
from tests.support.management.callers import instance_owner, new_caller, new_organization
from tests.support.protocol.answers import assert_json, assert_refused
from tests.support.protocol.asserting import register_key
from tests.support.protocol.exchanging import (
    ACCESS,
    GRANT,
    GRANTS,
    ID,
    JWT,
    REFRESH,
    USER_ID,
    Broker,
    switch,
)
from tests.support.store.audit import events_agree, events_of
from tests.support.store.stored import everything, only

DISCOVERY = "/.well-known/openid-configuration"
TYPES = {"access": ACCESS, "refresh": REFRESH, "id": ID, "jwt": JWT, "user": USER_ID}


@pytest.mark.promise("exchange: not enabled")
async def test_it_is_listed_while_it_is_switched_on(server, visitor, broker):
    on = (await visitor.get(DISCOVERY)).json()["grant_types_supported"]
    await switch(server, allows_token_exchange=False)
    off = (await visitor.get(DISCOVERY)).json()["grant_types_supported"]

    assert GRANT in on
    assert off == [each for each in on if each != GRANT]


@pytest.mark.promise("exchange: subject_token", "exchange: response access_token")
async def test_an_access_token_gives_another_with_the_same_rights(server, broker):
    user_id, tokens = await broker.person(scope="openid profile")
    page = await broker.exchange(tokens["access_token"])
    body = page.json()
    told = await broker.introspect(body["access_token"])

    assert_json(page)
    assert set(body) == {
        "access_token",
        "issued_token_type",
        "token_type",
        "expires_in",
        "scope",
        "id_token",
    }
    assert (body["issued_token_type"], body["token_type"]) == (ACCESS, "Bearer")
    assert body["scope"] == "openid profile"
    assert body["expires_in"] == tokens["expires_in"]
    before = await broker.introspect(tokens["access_token"])
    assert told.pop("jti") != before.pop("jti")
    assert told == before
    assert told["sub"] == user_id
    assert "act" not in told


@pytest.mark.promise(
    "exchange: subject_token_type",
    "exchange: type access_token",
    "exchange: type refresh_token",
    "exchange: type id_token",
    "exchange: type jwt",
    "exchange: type user_id",
)
@pytest.mark.every_row
@pytest.mark.parametrize("requested", ["access", "id", "jwt", "refresh", "user"])
@pytest.mark.parametrize("place", ["subject", "actor"])
@pytest.mark.parametrize("given", ["access", "refresh", "id", "jwt", "user"])
async def test_each_type_is_accepted_where_it_is_documented(
    server, broker, given, place, requested
):
    ann, tokens = await broker.person()
    keyed = await register_key(server, broker.party.client_id, "key-1")
    _, support = await broker.person("support", "IAM_ADMIN_IMPERSONATOR")
    own = {
        "access": support["access_token"] if place == "actor" else tokens["access_token"],
        "refresh": support["refresh_token"] if place == "actor" else tokens["refresh_token"],
        "id": support["id_token"] if place == "actor" else tokens["id_token"],
        "jwt": keyed.assertion(sub=ann),
        "user": ann,
    }[given]
    form = {"requested_token_type": TYPES[requested], "actor_token_type": ACCESS}
    if place == "subject":
        form |= {"actor_token": support["access_token"]}
        page = await broker.exchange(own, TYPES[given], **form)
    else:
        form |= {"actor_token": own, "actor_token_type": TYPES[given]}
        page = await broker.exchange(ann, USER_ID, **form)

    takes = {"subject": {"access", "id", "jwt", "user"}, "actor": {"access", "id"}}[place]
    if given in takes and requested in {"access", "id", "jwt"}:
        assert page.status == 200, page.text
        assert page.json()["issued_token_type"] == TYPES[requested]
        assert page.json()["token_type"] == ("N_A" if requested == "id" else "Bearer")
    else:
        assert (page.status, page.json()["error"]) == (400, "invalid_request")
        assert page.json()["error_description"].endswith("_token_type is not supported")


@pytest.mark.promise(
    "exchange: requested_token_type",
    "exchange: response access_token",
    "exchange: response issued_token_type",
)
@pytest.mark.parametrize("own", ["opaque", "jwt"])
async def test_the_type_asked_for_decides_not_the_clients_own(server, broker, own):
    id, changes = broker.party.client_id, {"access_token_type": own}
    await server.store.commit(Update(APPLICATIONS, id, set=changes))
    _, tokens = await broker.person()
    opaque = await broker.granted(tokens["access_token"])
    jwt = await broker.granted(opaque["access_token"], requested_token_type=JWT)
    again = (await broker.party.refresh(broker.visitor, jwt["refresh_token"])).json()

    assert opaque["access_token"].startswith("v1.")
    for body in (jwt, again):
        assert part(body["access_token"], 0)["typ"] == "at+jwt"
        assert await broker.is_active(body["access_token"])
        assert body["expires_in"] == server.service.config.jwt_access_token_seconds


@pytest.mark.promise("exchange: response token_type")
async def test_an_id_token_is_given_as_the_access_token_and_is_none(server, broker):
    user_id, tokens = await broker.person()
    scope = "openid email offline_access"
    page = await broker.exchange(tokens["access_token"], requested_token_type=ID, scope=scope)
    body = page.json()
    claims = part(body["access_token"], 1)

    assert (body["token_type"], body["issued_token_type"]) == ("N_A", ID)
    assert body["scope"] == "openid email"
    assert not {"id_token", "refresh_token"} & body.keys()
    assert body["expires_in"] == claims["exp"] - claims["iat"]
    assert (claims["sub"], claims["aud"]) == (user_id, broker.party.client_id)
    assert claims["email_verified"]
    assert "sid" not in claims
    page = await broker.party.userinfo(broker.visitor, body["access_token"])
    assert page.status == 401


@pytest.mark.promise("exchange: response id_token")
async def test_an_id_token_comes_beside_only_with_openid(broker):
    user_id, tokens = await broker.person()
    without = await broker.granted(tokens["access_token"], scope="profile")
    beside = await broker.granted(tokens["access_token"], scope="openid", requested_token_type=JWT)

    assert "id_token" not in without
    assert part(beside["id_token"], 1)["sub"] == user_id
    assert "at_hash" in part(beside["id_token"], 1)


@pytest.mark.promise("exchange: response refresh_token")
async def test_a_refresh_token_comes_only_with_offline_access(server, broker):
    _, tokens = await broker.person()
    without = await broker.granted(tokens["access_token"], scope="openid")
    beside = await broker.granted(tokens["access_token"], scope="openid offline_access")
    await server.store.commit(
        Update(APPLICATIONS, broker.party.client_id, set={"grant_types": [GRANT]})
    )
    forbidden = await broker.granted(tokens["access_token"], scope="openid offline_access")

    assert "refresh_token" not in without
    assert beside["refresh_token"]
    assert "refresh_token" not in forbidden
    assert forbidden["scope"] == "openid"


async def test_it_is_refreshed_as_any_other(server, broker):
    user_id, tokens = await broker.person()
    body = await broker.granted(tokens["access_token"])
    server.clock.advance(tokens["expires_in"] + 1)
    fresh = (await broker.party.refresh(broker.visitor, body["refresh_token"])).json()
    reused = await broker.party.refresh(broker.visitor, body["refresh_token"])

    assert fresh["scope"] == body["scope"]
    assert reused.json()["error"] == "invalid_grant"
    assert not await broker.is_active(fresh["access_token"])


@pytest.mark.promise("exchange: response expires_in")
async def test_without_offline_access_it_ends_with_what_it_came_of(server, broker):
    _, tokens = await broker.person(scope="openid profile")
    server.clock.advance(1000)
    left = tokens["expires_in"] - 1000
    body = await broker.granted(tokens["access_token"])
    named = await broker.granted(tokens["id_token"], ID, scope="openid")

    assert body["expires_in"] == left
    assert part(body["id_token"], 1)["exp"] == int(server.clock.now().timestamp()) + left
    assert named["expires_in"] <= server.service.config.id_token_seconds - 1000
    server.clock.advance(left - 1)
    assert await broker.is_active(body["access_token"])
    server.clock.advance(1)
    assert not await broker.is_active(body["access_token"])


async def test_with_offline_access_it_outlives_the_tokens_but_not_their_grants(server, broker):
    _, tokens = await broker.person()
    grant = await only(server.store, AUTHORIZATIONS)
    for _ in range(4):
        server.clock.advance(20 * 86_400)
        tokens = (await broker.party.refresh(broker.visitor, tokens["refresh_token"])).json()
    server.clock.advance(1000)
    body = await broker.granted(tokens["access_token"])
    record = await broker.authorization()

    assert body["expires_in"] == server.service.config.access_token_seconds
    assert record.refresh.expires_at == grant.refresh.expires_at + timedelta(hours=12)


async def test_an_id_token_as_subject_has_no_scopes_but_may_be_asked_who_it_is(broker):
    user_id, tokens = await broker.person()
    plain = await broker.granted(tokens["id_token"], ID)
    asked = await broker.granted(tokens["id_token"], ID, scope="openid profile email address")

    assert plain["scope"] == ""
    assert asked["scope"] == "openid profile email address"
    told = await broker.introspect(asked["access_token"])
    assert (told["sub"], told["aud"]) == (user_id, [broker.party.client_id])


@pytest.mark.promise("exchange: scope", "exchange: audience", "exchange: response scope")
async def test_scopes_and_audience_may_be_narrowed(server, broker):
    _, tokens = await broker.person()
    client = await server.store.get(APPLICATIONS, broker.party.client_id)
    body = await broker.granted(
        tokens["access_token"], scope="profile openid", audience=[client.project_id]
    )
    told = await broker.introspect(body["access_token"])

    assert body["scope"] == "profile openid"
    assert told["aud"] == [client.project_id]
    every = [client.project_id, client.id]
    body = await broker.granted(tokens["access_token"], audience=every)
    assert (await broker.introspect(body["access_token"]))["aud"] == every


async def test_another_client_of_the_project_may_exchange(server, broker):
    _, tokens = await broker.person()
    sibling = await server.register("Sibling", grant_types=GRANTS)
    body = await broker.granted(tokens["access_token"], party=sibling)
    told = await broker.introspect(body["access_token"])

    assert told["client_id"] == sibling.client_id
    assert broker.party.client_id in told["aud"]


METHODS = ["client_secret_basic", "client_secret_post", "none", "private_key_jwt"]


@pytest.mark.promise("client authentication: methods by endpoint", "exchange: authentication")
@pytest.mark.parametrize("method", METHODS)
async def test_each_way_to_authenticate_will_do(server, broker, method):
    _, tokens = await broker.person()
    party = await server.register("Method", grant_types=GRANTS, auth_method=method)
    keyed = await register_key(server, party.client_id, "key-1")
    form = {
        "client_secret_basic": {},
        "client_secret_post": {
            "client_id": party.client_id,
            "client_secret": party.client_secret,
            "headers": {},
        },
        "none": {},
        "private_key_jwt": keyed.client_form() | {"headers": {}},
    }[method]
    body = await broker.granted(tokens["access_token"], party=party, **form)

    assert (await broker.introspect(body["access_token"]))["client_id"] == party.client_id


async def test_a_personal_access_token_is_for_whatever_client_its_holder_gives_it_to(
    server, visitor, broker
):
    owner = await instance_owner(server, visitor)
    body = await broker.granted(owner.token, scope="openid profile")
    told = await broker.introspect(body["access_token"])

    assert broker.party.client_id in told["aud"]
    assert told["client_id"] == broker.party.client_id
    assert "refresh_token" not in body


# By what the application may, and whether the token is of a user of its organization.
PERSONAL = [
    (True, "home", True),
    (True, "elsewhere", False),
    (False, "home", False),
    (False, "elsewhere", False),
]


@pytest.mark.promise("acting: personal tokens")
@pytest.mark.parametrize("place", ["subject", "actor"])
@pytest.mark.parametrize(("may_manage", "where", "opens_service"), PERSONAL)
async def test_a_personal_token_opens_the_api_to_who_may_manage_in_its_organization(
    server, visitor, new_visitor, place, may_manage, where, opens_service
):
    broker = await Broker.make(server, visitor, new_visitor, has_management_access=may_manage)
    ann, _ = await broker.person()
    elsewhere = await new_organization(server, "elsewhere.example")
    organization = await broker.home() if where == "home" else elsewhere
    role = "IAM_END_USER_IMPERSONATOR"
    script = await new_caller(server, visitor, organization, role, everywhere=True)
    sent = {
        "subject": {"subject": script.token},
        "actor": {
            "subject": ann,
            "type": USER_ID,
            "actor_token": script.token,
            "actor_token_type": ACCESS,
        },
    }[place]
    told = await broker.introspect((await broker.granted(**sent))["access_token"])
    before = await everything(server.store)
    named = await broker.exchange(**sent, audience=server.issuer)

    assert (server.issuer in told["aud"]) == opens_service
    assert broker.party.client_id in told["aud"]
    if opens_service:
        assert named.status == 200
    else:
        assert_refused(named, 400, "invalid_target")
        assert await everything(server.store) == before


@pytest.mark.promise("acting: personal tokens")
async def test_a_personal_token_of_elsewhere_closes_the_api_to_the_other_token_too(
    server, visitor, new_visitor
):
    broker = await Broker.make(server, visitor, new_visitor, has_management_access=True)
    scope = "openid urn:idp:iam:org:project:id:idp:aud"
    _, tokens = await broker.person(scope=scope)
    elsewhere = await new_organization(server, "elsewhere.example")
    role = "IAM_END_USER_IMPERSONATOR"
    script = await new_caller(server, visitor, elsewhere, role, everywhere=True)
    form = {"actor_token": script.token, "actor_token_type": ACCESS}
    told = await broker.introspect(
        (await broker.granted(tokens["access_token"], **form))["access_token"]
    )

    assert server.issuer in (await broker.introspect(tokens["access_token"]))["aud"]
    assert server.issuer not in told["aud"]


async def test_the_services_own_audience_is_for_who_may_manage(server, broker):
    trusted = await server.register("Console", grant_types=GRANTS, has_management_access=True)
    scope = "openid urn:idp:iam:org:project:id:idp:aud"
    _, tokens = await broker.person(party=trusted, scope=scope)
    own = await broker.granted(tokens["access_token"], party=trusted)
    others = await broker.granted(tokens["access_token"])

    assert server.issuer in (await broker.introspect(own["access_token"]))["aud"]
    told = await broker.introspect(others["access_token"])
    assert server.issuer not in told["aud"]
    assert told["scope"] == "openid"


async def test_an_exchange_is_in_the_audit_log(server, broker):
    user_id, tokens = await broker.person()
    await broker.granted(tokens["access_token"])
    record = await broker.authorization()

    (event,) = await events_of(server.store, record.id)
    assert (event.type, event.actor) == ("token.exchanged", user_id)
    assert dict(event.payload) == {"client": broker.party.client_id, "user": user_id}
    await broker.party.refresh(broker.visitor, tokens["refresh_token"])
    await events_agree(server.store)
