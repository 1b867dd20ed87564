"""Token exchange with an actor: who may act for whom, what is told of it, what they can't do."""

from __future__ import annotations

import pytest

from idp.identity.users import memberships
from idp.records import APPLICATIONS, ORGANIZATIONS, USERS
from storage import Update
from tests.support.attacks.forged import part
from tests.support.management.callers import (
    Caller,
    instance_owner,
    new_caller,
    new_organization,
    refused,
)
from tests.support.protocol.answers import assert_refused
from tests.support.protocol.asserting import register_key
from tests.support.protocol.exchanging import ACCESS, GRANTS, ID, JWT, USER_ID, Broker, switch
from tests.support.store.audit import events_agree, events_of
from tests.support.store.stored import everything

ANYBODY, END_USERS = "IAM_ADMIN_IMPERSONATOR", "IAM_END_USER_IMPERSONATOR"


def actors(act: dict | None) -> list[str]:
    """The users of a chain, the one who acts now first."""
    found = []
    while act is not None:
        assert act["iss"].startswith("http://localhost")
        found.append(act["sub"])
        act = act.get("act")
    return found


def acting(actor: dict) -> dict:
    return {"actor_token": actor["access_token"], "actor_token_type": ACCESS}


@pytest.mark.promise("exchange: actor_token")
async def test_the_new_token_names_who_acts_and_for_whom(broker):
    ann, _ = await broker.person()
    bob, tokens = await broker.person("bob", END_USERS)
    opaque = await broker.by(tokens, ann)
    jwt = await broker.by(tokens, ann, requested_token_type=JWT)
    told = await broker.introspect(opaque["access_token"])

    assert (told["sub"], actors(told["act"])) == (ann, [bob])
    for text in (jwt["access_token"], jwt["id_token"], opaque["id_token"]):
        claims = part(text, 1)
        assert (claims["sub"], actors(claims["act"])) == (ann, [bob])
    page = await broker.party.userinfo(broker.visitor, opaque["access_token"])
    assert page.json()["sub"] == ann


async def test_the_actor_stays_over_refreshes(broker):
    ann, _ = await broker.person()
    bob, tokens = await broker.person("bob", END_USERS)
    body = await broker.by(tokens, ann)
    fresh = (await broker.party.refresh(broker.visitor, body["refresh_token"])).json()

    told = await broker.introspect(fresh["access_token"])
    assert (told["sub"], actors(told["act"])) == (ann, [bob])
    assert actors(part(fresh["id_token"], 1)["act"]) == [bob]


async def test_when_and_how_somebody_signed_in_is_the_actors(server, broker):
    ann, tokens = await broker.person()
    server.clock.advance(500)
    _, support = await broker.person("support", END_USERS)
    body = await broker.by(support, tokens["access_token"], ACCESS)
    alone = await broker.granted(tokens["access_token"])

    of_ann, of_support = part(tokens["id_token"], 1), part(support["id_token"], 1)
    assert of_ann["auth_time"] != of_support["auth_time"]
    for text, whose in ((body["id_token"], of_support), (alone["id_token"], of_ann)):
        assert part(text, 1)["auth_time"] == whose["auth_time"]
        assert part(text, 1)["amr"] == whose["amr"]


@pytest.mark.promise("exchange: type user_id")
async def test_a_user_id_takes_audience_and_scopes_of_the_actor(broker):
    ann, _ = await broker.person()
    _, tokens = await broker.person("bob", END_USERS, scope="openid email")
    given = await broker.introspect((await broker.by(tokens, ann))["access_token"])
    asked = await broker.by(tokens, ann, scope="openid profile phone")
    own = await broker.introspect(tokens["access_token"])

    assert (given["aud"], given["scope"]) == (own["aud"], "openid email")
    assert asked["scope"] == "openid profile phone"


@pytest.mark.promise("exchange: type jwt")
async def test_a_jwt_of_the_client_names_the_subject_once(server, broker):
    ann, _ = await broker.person()
    bob, tokens = await broker.person("bob", END_USERS)
    keyed = await register_key(server, broker.party.client_id, "key-1")
    jwt = keyed.assertion(sub=ann)
    body = await broker.by(tokens, jwt, JWT)
    told = await broker.introspect(body["access_token"])
    before = await everything(server.store)
    again = await broker.exchange(jwt, JWT, **acting(tokens))

    assert (told["sub"], actors(told["act"])) == (ann, [bob])
    assert_refused(again, 400, "invalid_request")
    assert again.json()["error_description"] == "subject_token invalid"
    assert await everything(server.store) == before


async def test_a_refused_request_does_not_use_the_jwt_up(server, broker):
    ann, _ = await broker.person()
    _, tokens = await broker.person("bob", END_USERS)
    jwt = (await register_key(server, broker.party.client_id, "key-1")).assertion(sub=ann)
    before = await everything(server.store)
    page = await broker.exchange(jwt, JWT, scope="urn:idp:iam:user:metadata", **acting(tokens))
    assert_refused(page, 400, "invalid_scope")
    page = await broker.exchange(jwt, JWT, audience="nobody", **acting(tokens))

    assert_refused(page, 400, "invalid_target")
    assert await everything(server.store) == before
    assert await broker.by(tokens, jwt, JWT)


async def test_an_impersonation_is_in_the_audit_log_by_the_name_of_who_acts(server, broker):
    ann, _ = await broker.person()
    bob, tokens = await broker.person("bob", END_USERS)
    await broker.by(tokens, ann)
    record = await broker.authorization()

    (event,) = await events_of(server.store, record.id)
    assert (event.type, event.actor) == ("token.impersonated", bob)
    assert dict(event.payload) == {
        "actor": bob,
        "subject": ann,
        "clientId": broker.party.client_id,
        "audience": " ".join(record.audience),
    }
    await events_agree(server.store)


async def grown(broker, subject: str, names: list[str]) -> tuple[list[str], dict]:
    """The chain of so many who act one for another, the newest first, and the last answer."""
    ids, body = [], {"access_token": subject}
    for name in names:
        id, tokens = await broker.person(name, ANYBODY)
        ids.insert(0, id)
        body = await broker.by(tokens, body["access_token"], ACCESS)
    return ids, body


@pytest.mark.full
async def test_chains_have_up_to_five_actors(server, broker):
    ann, tokens = await broker.person()
    ids, body = await grown(broker, tokens["access_token"], list("abcde"))
    told = await broker.introspect(body["access_token"])
    _, sixth = await broker.person("f", ANYBODY)
    before = await everything(server.store)
    page = await broker.exchange(body["access_token"], **acting(sixth))

    assert (told["sub"], actors(told["act"])) == (ann, ids)
    assert_refused(page, 400, "invalid_request")
    assert await everything(server.store) == before


async def test_five_exchanges_may_follow_one_another(server, broker):
    _, tokens = await broker.person()
    body = tokens
    for _ in range(5):
        body = await broker.granted(body["access_token"])
    before = await everything(server.store)
    page = await broker.exchange(body["access_token"])

    assert await broker.is_active(body["access_token"])
    assert_refused(page, 400, "invalid_request")
    assert await everything(server.store) == before


async def test_the_actor_stays_when_the_token_is_exchanged_again(broker):
    ann, _ = await broker.person()
    bob, tokens = await broker.person("bob", END_USERS)
    first = await broker.by(tokens, ann)
    second = await broker.granted(first["access_token"], requested_token_type=JWT)

    told = await broker.introspect(second["access_token"])
    assert (told["sub"], actors(told["act"])) == (ann, [bob])


async def test_an_actor_who_is_acted_for_brings_the_chain(broker):
    ann, _ = await broker.person()
    bob, _ = await broker.person("bob", END_USERS)
    carl, tokens = await broker.person("carl", ANYBODY)
    as_bob = await broker.by(tokens, bob)
    told = await broker.introspect((await broker.by(as_bob, ann))["access_token"])

    assert (told["sub"], actors(told["act"])) == (ann, [bob, carl])


async def test_an_id_token_of_an_exchange_hides_no_actor(broker):
    ann, _ = await broker.person()
    _, tokens = await broker.person("bob", END_USERS)
    body = await broker.by(tokens, ann, requested_token_type=ID)
    page = await broker.exchange(body["access_token"], ID, scope="openid")

    assert_refused(page, 400, "invalid_request")


ROLES = [
    # role, where it is held, may act for: a user, an administrator, a user and one elsewhere
    ("IAM_ADMIN_IMPERSONATOR", "instance", {"user", "admin", "stranger", "owner"}),
    ("IAM_END_USER_IMPERSONATOR", "instance", {"user", "stranger"}),
    ("ORG_ADMIN_IMPERSONATOR", "home", {"user", "admin"}),
    ("ORG_END_USER_IMPERSONATOR", "home", {"user"}),
    ("ORG_ADMIN_IMPERSONATOR", "elsewhere", {"stranger"}),
    ("ORG_END_USER_IMPERSONATOR", "elsewhere", {"stranger"}),
    ("IAM_OWNER", "instance", set()),
    ("ORG_OWNER", "home", set()),
    (None, None, set()),
]


@pytest.mark.promise("exchange: actor_token")
@pytest.mark.parametrize(("role", "where", "may"), ROLES)
async def test_who_may_act_for_whom(server, visitor, broker, role, where, may):
    service = server.service
    user, _ = await broker.person()
    admin, _ = await broker.person("admin")
    home = await server.store.get(ORGANIZATIONS, (await server.store.get(USERS, user)).org_id)
    elsewhere = await new_organization(server, "elsewhere.example")
    await memberships.grant(service, admin, home.id, "ORG_OWNER", actor="a test")
    owner = (await new_caller(server, visitor, home, "IAM_OWNER", everywhere=True)).user_id
    stranger = (await new_caller(server, visitor, elsewhere)).user_id
    organization = elsewhere if where == "elsewhere" else home
    roles = [role] if role else []
    actor = await new_caller(server, visitor, organization, *roles, everywhere=where == "instance")
    subjects = {"user": user, "admin": admin, "owner": owner, "stranger": stranger}
    before = await everything(server.store)

    form = {"actor_token": actor.token, "actor_token_type": ACCESS}
    pages = {name: await broker.exchange(id, USER_ID, **form) for name, id in subjects.items()}
    for name in subjects.keys() - may:
        assert_refused(pages[name], 403, "invalid_request")
    assert {name for name, page in pages.items() if page.status == 200} == may
    if not may:
        assert await everything(server.store) == before


CHANGES = {
    "password or user": ("POST", "/v2/users/{id}/deactivate"),
    "a personal access token": ("POST", "/management/v1/users/{id}/pats"),
    "one less": ("DELETE", "/management/v1/users/{id}/pats/some"),
    "a secret": ("PUT", "/management/v1/users/{id}/secret"),
    "a key": ("POST", "/management/v1/users/{id}/keys"),
    "a member": ("POST", "/management/v1/orgs/me/members"),
    "a member of the instance": ("POST", "/admin/v1/members"),
    "a member's roles": ("PUT", "/management/v1/orgs/me/members/{id}"),
    "a member less": ("DELETE", "/admin/v1/members/{id}"),
    "somebody new": ("POST", "/v2/users/human"),
    "an organization": ("POST", "/admin/v1/orgs/_setup"),
    "a policy": ("PUT", "/admin/v1/policies/security"),
    "a role of a user": ("POST", "/management/v1/users/{id}/grants"),
    "an application": ("POST", "/management/v1/projects/p/apps/oidc"),
    "a project": ("POST", "/management/v1/projects"),
    "an organization less": ("DELETE", "/admin/v1/orgs/some"),
    "the audit log": ("POST", "/admin/v1/events/_search"),
}


@pytest.fixture
def impersonating(io_loop, server, visitor, new_visitor) -> tuple[Caller, str]:
    """Whoever acts for the owner of the instance by a token for the service itself."""

    async def make():
        broker = await Broker.make(server, visitor, new_visitor, has_management_access=True)
        home = (await server.store.get(USERS, (await broker.person())[0])).org_id
        home = await server.store.get(ORGANIZATIONS, home)
        owner = await new_caller(server, visitor, home, "IAM_OWNER", everywhere=True)
        actor = await new_caller(server, visitor, home, ANYBODY, everywhere=True)
        form = {"actor_token": actor.token, "actor_token_type": ACCESS}
        body = await broker.granted(owner.user_id, USER_ID, **form)
        return Caller(visitor, body["access_token"], owner.user_id), actor.user_id

    return io_loop.run_sync(make)


@pytest.mark.promise("acting: reads")
@pytest.mark.parametrize(("method", "path"), CHANGES.values(), ids=CHANGES.keys())
async def test_nobody_changes_anything_in_the_name_of_another(server, impersonating, method, path):
    caller, _ = impersonating
    before = await everything(server.store)
    page = await caller.request(method, path.format(id=caller.user_id), {})

    assert refused(page, 403, 7) == {"": "token.actor"}
    assert await everything(server.store) == before


async def test_what_another_manages_is_read_in_their_name(impersonating):
    caller, _ = impersonating
    read = await caller.get(f"/v2/users/{caller.user_id}")

    assert read.status == 200
    assert read.json()["user"]["userId"] == caller.user_id


async def test_who_is_no_impersonator_any_more_gets_no_further_tokens(server, visitor, broker):
    ann, _ = await broker.person()
    support, tokens = await broker.person("support", ANYBODY)
    body = await broker.by(tokens, ann)
    owner = await instance_owner(server, visitor)
    removed = await owner.request("DELETE", f"/admin/v1/members/{support}", None)
    before = await everything(server.store)
    page = await broker.exchange(ann, USER_ID, **acting(tokens))

    assert removed.status == 200
    assert_refused(page, 403, "invalid_request")
    assert await everything(server.store) == before
    assert not await broker.is_active(body["access_token"])


async def test_impersonation_that_is_off_is_off_for_every_actor(server, broker):
    ann, tokens = await broker.person()
    _, support = await broker.person("support", ANYBODY)
    body = await broker.by(support, ann)
    await switch(server, allows_impersonation=False)
    before = await everything(server.store)
    pages = [
        await broker.exchange(tokens["access_token"], **acting(support)),
        await broker.exchange(ann, USER_ID, **acting(support)),
        await broker.exchange(ann, USER_ID),
        await broker.exchange(ann, USER_ID, actor_token="none", actor_token_type=ACCESS),
    ]

    for page in pages:
        assert_refused(page, 403, "invalid_request")
    assert await everything(server.store) == before
    assert not await broker.is_active(body["access_token"])
    assert (await broker.exchange(tokens["access_token"])).status == 200


async def test_scopes_that_name_an_organization_hold_for_the_subject(server, visitor, broker):
    elsewhere = await new_organization(server, "elsewhere.example")
    stranger = (await new_caller(server, visitor, elsewhere)).user_id
    ann, _ = await broker.person()
    home = (await server.store.get(USERS, ann)).org_id
    scope = f"openid urn:idp:iam:org:id:{home}"
    _, support = await broker.person("support", ANYBODY, scope=scope)
    page = await broker.exchange(stranger, USER_ID, **acting(support))

    assert_refused(page, 400, "invalid_scope")
    assert (await broker.by(support, ann))["scope"] == scope


async def test_an_actor_of_another_project_is_not_taken(server, broker):
    ann, _ = await broker.person()
    foreign = await server.register("Foreign", grant_types=GRANTS)
    await server.store.commit(
        Update(APPLICATIONS, foreign.client_id, set={"project_id": "another"})
    )
    _, support = await broker.person("support", ANYBODY, party=foreign)
    page = await broker.exchange(ann, USER_ID, **acting(support))

    assert_refused(page, 400, "invalid_request")
    assert page.json()["error_description"] == "actor_token invalid"
