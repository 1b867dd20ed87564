"""Introspection (RFC 7662): what it returns to which client, and to whom it returns nothing."""

from __future__ import annotations

from datetime import timedelta

import pytest

from idp.identity.users import lookup as user_lookup
from idp.oauth.endpoints import introspection
from idp.oauth.params import Params
from idp.records import (
    APPLICATIONS,
    AUTHORIZATIONS,
    INSTANCE_ID,
    INSTANCES,
    ORGANIZATIONS,
    SESSIONS,
    USERS,
)
from idp.start import admin_pat
from storage import Delete, Update
from tests.support.attacks.forged import changed, cut
from tests.support.protocol.answers import assert_json, assert_refused
from tests.support.protocol.asserting import register_key
from tests.support.protocol.relying_party import RelyingParty
from tests.support.store.stored import everything, only

INTROSPECT = "/oauth/v2/introspect"
INACTIVE = '{"active":false}'


@pytest.fixture
def tokens(io_loop, server, visitor, demo) -> dict:
    scope = "openid profile email phone offline_access"
    return io_loop.run_sync(lambda: demo.tokens(visitor, *server.user, scope=scope))


def introspect(visitor, party: RelyingParty, token: str | None, headers: dict | None = None):
    form = {} if token is None else {"token": token}
    return visitor.post(INTROSPECT, form, headers=party.basic() if headers is None else headers)


@pytest.mark.promise(
    "client authentication: client_secret_basic",
    "introspection: token",
    "introspection: response aud",
    "introspection: response client_id",
    "introspection: response exp iat nbf",
    "introspection: response iss",
    "introspection: response jti",
    "introspection: response scope",
    "introspection: response token_type",
    "introspection: response username",
)
async def test_an_active_token_is_described(server, visitor, demo, tokens):
    page = await introspect(visitor, demo, tokens["access_token"])

    assert page.status == 200
    assert_json(page)
    body, now = page.json(), int(server.clock.now().timestamp())
    user = await user_lookup.find_by_login_name(server.service, server.user[0])
    assert isinstance(body.pop("jti"), str)
    assert isinstance(body.pop("auth_time"), int)
    assert isinstance(body.pop("updated_at"), int)
    project = (await server.store.get(APPLICATIONS, demo.client_id)).project_id
    assert body == {
        "active": True,
        "iss": server.issuer,
        "sub": user.id,
        "aud": [demo.client_id, project],
        "client_id": demo.client_id,
        "exp": now + server.service.config.access_token_seconds,
        "iat": now,
        "nbf": now,
        "scope": "openid profile email phone offline_access",
        "token_type": "Bearer",
        "username": "demo@localhost",
        "amr": ["pwd"],
        "name": "Dana Demo",
        "given_name": "Dana",
        "family_name": "Demo",
        "preferred_username": "demo",
        "email": user.email.address,
        "email_verified": True,
        "phone_number": user.phone.number,
        "phone_number_verified": user.phone.is_verified,
    }


@pytest.mark.promise("introspection: token")
async def test_a_jwt_is_described_as_an_opaque_token_is(server, visitor, demo, tokens):
    opaque = (await introspect(visitor, demo, tokens["access_token"])).json()
    await server.store.commit(
        Update(APPLICATIONS, demo.client_id, set={"access_token_type": "jwt"})
    )
    fresh = (await demo.refresh(visitor, tokens["refresh_token"])).json()
    body = (await introspect(visitor, demo, fresh["access_token"])).json()

    assert body.keys() == opaque.keys()
    assert body["sub"] == opaque["sub"]


@pytest.mark.promise("scope: profile email phone address", "introspection: user claims")
async def test_only_the_claims_of_the_granted_scopes_are_returned(server, visitor, demo, tokens):
    page = await visitor.get(demo.authorize_url(scope="openid email"))
    narrow = (await demo.redeem(visitor, page.answer["code"])).json()
    body = (await introspect(visitor, demo, narrow["access_token"])).json()

    assert "email" in body
    assert not {"name", "given_name", "phone_number", "locale"} & body.keys()


@pytest.mark.promise("introspection: active")
async def test_another_client_of_the_same_project_may_ask(server, visitor, demo, tokens):
    sibling = await server.register("API", app_type="api")

    assert (await introspect(visitor, sibling, tokens["access_token"])).json()["active"]


@pytest.mark.promise("introspection: active", "introspection: other clients")
async def test_a_client_of_another_project_learns_nothing(server, visitor, demo, tokens):
    stranger = await server.register("Stranger")
    await server.store.commit(
        Update(APPLICATIONS, stranger.client_id, set={"project_id": "another-project"})
    )

    assert (await introspect(visitor, stranger, tokens["access_token"])).text == INACTIVE


@pytest.mark.promise("client authentication: private_key_jwt", "introspection: authentication")
async def test_a_client_may_ask_by_its_key(server, visitor, demo, tokens):
    party = await server.register("Keyed API", app_type="api", auth_method="private_key_jwt")
    keyed = await register_key(server, party.client_id, "key-1")
    form = {"token": tokens["access_token"]} | keyed.client_form()
    page = await visitor.post(INTROSPECT, form)

    assert page.json()["active"]
    again = await visitor.post(INTROSPECT, form)
    assert_refused(again, 401, "invalid_client", is_challenged=False)


FORGED = {
    "nothing known": lambda t: "token",
    "one character changed": lambda t: changed(t["access_token"]),
    "cut": lambda t: cut(t["access_token"]),
    "longer": lambda t: t["access_token"] + "A",
    "a refresh token": lambda t: t["refresh_token"],
    "an ID token": lambda t: t["id_token"],
    "of 60 KB": lambda t: "v1." + "A" * 60_000,
    "no text": lambda t: "\0\ufffe",
    "three parts": lambda t: "e30.e30.e30",
}


@pytest.mark.promise("introspection: token")
@pytest.mark.parametrize("make", FORGED.values(), ids=FORGED.keys())
async def test_what_is_no_access_token_is_inactive(server, visitor, demo, tokens, make):
    before = await everything(server.store)
    page = await introspect(visitor, demo, make(tokens))

    assert (page.status, page.text) == (200, INACTIVE)
    assert await everything(server.store) == before


def ending(collection, id_of, **changes):
    async def end(server, demo):
        await server.store.commit(Update(collection, await id_of(server, demo), set=changes))

    return end


async def _user(server, demo):
    return (await user_lookup.find_by_login_name(server.service, server.user[0])).id


async def _client(server, demo):
    return demo.client_id


async def _organization(server, demo):
    return (await user_lookup.find_by_login_name(server.service, server.user[0])).org_id


async def _instance(server, demo):
    return INSTANCE_ID


async def _authorization(server, demo):
    return (await only(server.store, AUTHORIZATIONS)).id


async def _session(server, demo):
    return (await only(server.store, SESSIONS)).id


async def _expire(server, demo):
    server.clock.advance(timedelta(seconds=server.service.config.access_token_seconds))


async def _delete_user(server, demo):
    await server.store.commit(Delete(USERS, await _user(server, demo)))


ENDS = {
    "expired": _expire,
    "its user deleted": _delete_user,
    "its user inactive": ending(USERS, _user, state="inactive"),
    "its user locked": ending(USERS, _user, state="locked"),
    "its user changed": ending(USERS, _user, stamp="new"),
    "its organization changed": ending(ORGANIZATIONS, _organization, stamp="new"),
    "the installation changed": ending(INSTANCES, _instance, stamp="new"),
    "its grant revoked": None,
    "its session ended": None,
}


@pytest.mark.promise("introspection: revoked")
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
async def test_a_token_that_does_not_stand_any_more_is_inactive(
    server, visitor, demo, tokens, end, request
):
    reader = await server.register("API", app_type="api")
    token = tokens["access_token"]
    assert (await introspect(visitor, reader, token)).json()["active"]
    now = server.clock.now()
    if end is not None:
        await end(server, demo)
    elif "grant" in request.node.name:
        await ending(AUTHORIZATIONS, _authorization, revoked_at=now)(server, demo)
    else:
        await ending(SESSIONS, _session, ended_at=now)(server, demo)

    assert (await introspect(visitor, reader, token)).text == INACTIVE


@pytest.mark.parametrize("change", [{"state": "inactive"}, {"stamp": "new"}])
async def test_a_token_ends_with_its_client(server, visitor, demo, tokens, change):
    reader = await server.register("API", app_type="api")
    await server.store.commit(Update(APPLICATIONS, demo.client_id, set=change))

    assert (await introspect(visitor, reader, tokens["access_token"])).text == INACTIVE


@pytest.mark.promise("token: personal access token")
async def test_a_personal_access_token_counts_for_its_organizations_applications(
    server, visitor, demo
):
    instance = await server.store.get(INSTANCES, INSTANCE_ID)
    pat = await admin_pat.ensure(server.service, instance, None)
    client = await server.store.get(APPLICATIONS, demo.client_id)
    body = (await introspect(visitor, demo, pat)).json()
    await server.store.commit(Update(APPLICATIONS, client.id, set={"org_id": "another"}))

    assert body["active"]
    assert body["aud"] == [server.issuer, client.project_id]
    assert body["client_id"] == body["sub"]
    assert (await introspect(visitor, demo, pat)).text == INACTIVE


async def _nobody(server):
    return {}, {}


async def _public(server):
    party = await server.register("SPA", auth_method="none")
    return {"client_id": party.client_id}, {}


async def _posting(server):
    party = await server.register("Post", auth_method="client_secret_post")
    return {"client_id": party.client_id, "client_secret": party.client_secret}, {}


async def _wrong(server):
    party = await server.register("Basic")
    party.client_secret = "wrong"
    return {}, party.basic()


async def _other_method(server):
    party = await server.register("Basic")
    return {"client_id": party.client_id, "client_secret": party.client_secret}, {}


async def _unknown(server):
    party = await server.register("Basic")
    party.client_id = "unknown"
    return {}, party.basic()


async def _inactive(server):
    party = await server.register("Basic", state="inactive")
    return {}, party.basic()


CALLERS = [_nobody, _public, _posting, _wrong, _other_method, _unknown, _inactive]


@pytest.mark.promise(
    "client authentication: client_secret_post",
    "client authentication: none",
    "client authentication: methods by endpoint",
    "introspection: authentication",
    "introspection: 401",
    "introspection: invalid_client",
    "introspection: other clients",
)
@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("known", [True, False])
async def test_a_client_that_does_not_authenticate_learns_nothing(
    server, visitor, tokens, caller, known
):
    form, headers = await caller(server)
    before = await everything(server.store)
    token = tokens["access_token"] if known else "token"
    page = await visitor.post(INTROSPECT, {"token": token} | form, headers=headers)

    assert_refused(page, 401, "invalid_client", is_challenged="Authorization" in headers)
    assert await everything(server.store) == before


async def test_a_request_without_a_token_is_invalid(visitor, demo):
    assert_refused(await introspect(visitor, demo, None), 400, "invalid_request")
    assert_refused(await introspect(visitor, demo, ""), 400, "invalid_request")


async def test_a_token_in_the_address_is_refused(visitor, demo, tokens):
    page = await visitor.post(
        f"{INTROSPECT}?token={tokens['access_token']}", {}, headers=demo.basic()
    )

    assert_refused(page, 400, "invalid_request")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
async def test_only_a_post_is_answered(visitor, demo, tokens, method):
    page = await visitor.request(method, INTROSPECT, headers=demo.basic())

    assert_refused(page, 405, "invalid_request")
    assert page.headers["Allow"] == "POST"


async def test_client_and_token_are_read_in_one_round_trip(server, visitor, demo, tokens):
    reads = []
    get_many = server.store.get_many

    async def counted(keys):
        reads.append(keys)
        return await get_many(keys)

    server.store.get_many = counted
    header = demo.basic()["Authorization"]
    body = await introspection.respond(
        server.service, header, Params([("token", tokens["access_token"])])
    )

    assert body["active"]
    assert len(reads) == 1
