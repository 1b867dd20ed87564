"""The identities that people have linked, on the pages of their own account."""

from __future__ import annotations

import asyncio

import pytest

from idp.records import EVENTS, OUTBOX, SESSIONS, USERS
from idp.records.identity_links import IDENTITY_LINKS
from storage import Insert, Update
from tests.support.protocol.claiming import user_of
from tests.support.sign_in import account
from tests.support.sign_in.federating import AT_ONCE, NAMES, link_of
from tests.support.sign_in.steps import text_of
from tests.support.store.audit import events_agree
from tests.support.store.both_stores import on_both_stores, store_as_marked  # noqa: F401
from tests.support.store.stored import everything

LIST = "/ui/account/linked"
DELETED = "identity_link.deleted"


@pytest.fixture
def linked(io_loop, server, federation):
    """The link of the demo's user, who has signed in with a password to make it."""

    async def link():
        page = await federation.to_account(await federation.sign_in())
        page = await federation.visitor.submit(page, choice="link")
        assert "code" in page.answer, page.text
        return (await server.store.find(IDENTITY_LINKS)).records[0]

    return io_loop.run_sync(link)


async def to_remove(visitor):
    """The page that asks whether to remove the first link of the list."""
    return await visitor.open(link_of(await visitor.open(LIST), LIST + "/"))


@on_both_stores
@pytest.mark.promise("connections: own links")
async def test_a_person_removes_a_link_and_what_was_opened_by_it_ends(
    server, federation, provider, linked, new_visitor
):
    other = new_visitor()
    page = await federation.sign_in(other)
    tokens = (await federation.party.redeem(other, page.answer["code"])).json()
    mails = await server.store.count(OUTBOX)
    page = await federation.visitor.open(LIST)
    assert (page.name, "Corp" in page.text) == ("account/linked", True), page.text

    page = await federation.visitor.submit(await to_remove(federation.visitor))

    assert page.name == "account/linked", page.text
    assert "No linked identity providers." in text_of(page)
    assert await server.store.count(IDENTITY_LINKS) == 0
    ended = await federation.party.userinfo(other, tokens["access_token"])
    assert ended.status == 401
    assert await server.store.count(OUTBOX) == mails + 1
    (event,) = [one async for one in server.store.scan(EVENTS) if one.type == DELETED]
    assert event.actor == linked.user_id
    assert (await federation.sign_in(new_visitor())).name == "idp-account"
    await events_agree(server.store)


@pytest.mark.promise("connections: own links")
async def test_the_last_way_to_sign_in_stays(server, federation, linked):
    await server.store.commit(Update(USERS, linked.user_id, set={"password": None}))
    page = await to_remove(federation.visitor)
    before = await everything(server.store)

    page = await federation.visitor.submit(page)

    assert (page.status, page.name) == (400, "account/form")
    assert "your only way to sign in" in text_of(page)
    assert await everything(server.store) == before


@pytest.mark.parametrize(
    ("state", "authority", "is_enough"),
    [
        ("active", None, True),
        ("inactive", None, False),
        ("not offered", None, False),
        ("not allowed", None, False),
        ("active", "https://before.example", False),
    ],
)
async def test_another_link_is_a_way_if_it_signs_in(
    server, federation, linked, state, authority, is_enough
):
    made = await second(server, federation, linked, authority)
    await server.store.commit(Update(USERS, linked.user_id, set={"password": None}))
    page = await federation.visitor.open(f"{LIST}/{linked.id}/remove")
    call, path = federation.connecting.call, f"/idps/{made.connection_id}"
    if state == "inactive":
        await call("POST", f"{path}/_deactivate", {})
    elif state == "not offered":
        await call("DELETE", f"/policies/login{path}", None)
    elif state == "not allowed":
        await call("POST", "/policies/login", {"allowExternalIdp": False})
        server.service.settings_cache.forget()

    page = await federation.visitor.submit(page)

    left = {one.id async for one in server.store.scan(IDENTITY_LINKS)}
    assert left == ({made.id} if is_enough else {linked.id, made.id}), page.text


async def second(server, federation, linked, authority=None):
    """A link of the same user by another connection."""
    body = {**federation.body, "name": "Corp 2", "issuer": "https://second.example"}
    connection_id = await federation.connecting.make("generic_oidc", body)
    await federation.connecting.call("POST", "/policies/login/idps", {"idpId": connection_id})
    made = type(linked)(
        id="l2",
        connection_id=connection_id,
        authority=authority or "https://second.example",
        external_id="person-2",
        user_id=linked.user_id,
        org_id=linked.org_id,
        user_name="dana",
        created_at=linked.created_at,
        changed_at=linked.changed_at,
    )
    await server.store.commit(Insert(IDENTITY_LINKS, made))
    return made


@on_both_stores
async def test_of_the_last_two_links_that_are_removed_at_once_one_stays(
    server, federation, linked
):
    made = await second(server, federation, linked)
    await server.store.commit(Update(USERS, linked.user_id, set={"password": None}))
    pages = [
        await federation.visitor.open(f"{LIST}/{each}/remove") for each in (linked.id, made.id)
    ]

    await asyncio.gather(*(federation.visitor.submit(page) for page in pages))

    assert await server.store.count(IDENTITY_LINKS) == 1


async def test_another_persons_link_is_not_there(
    server, federation, provider, linked, new_visitor
):
    other = new_visitor()
    await account.enter(server, other, who=await server.copy_user("minnie"))
    path = f"{LIST}/{linked.id}/remove"

    page = await other.open(path)

    assert page.status == 404, page.text
    assert "Corp" not in (await other.open(LIST)).text
    assert await server.store.count(IDENTITY_LINKS) == 1


async def test_a_link_is_removed_soon_after_a_sign_in_alone(server, federation, linked):
    server.clock.advance(601)

    page = await federation.visitor.open(f"{LIST}/{linked.id}/remove")

    assert page.name == "password", page.text


async def test_the_page_of_security_shows_the_links_of_who_has_any(
    server, federation, linked, new_visitor
):
    other = new_visitor()
    await account.enter(server, other, who=await server.copy_user("minnie"))

    page = await federation.visitor.open("/ui/account/security")

    assert LIST in page.text
    assert LIST not in (await other.open("/ui/account/security")).text


async def test_an_administrator_who_removes_a_link_has_its_user_informed(
    server, federation, linked, owner
):
    mails = await server.store.count(OUTBOX)
    path = f"/management/v1/users/{linked.user_id}/idps/{federation.connection}/person-1"

    done = await owner.request("DELETE", path, None)

    assert done.status == 200, done.text
    assert await server.store.count(OUTBOX) == mails + 1


async def test_who_is_signed_in_by_the_link_is_signed_out(
    server, federation, provider, new_visitor
):
    await federation.change(AT_ONCE)
    provider.claims = NAMES
    await federation.sign_in()
    (link,) = (await server.store.find(IDENTITY_LINKS)).records
    known = await user_of(server)
    password = (await server.store.get(USERS, known.id)).password
    await server.store.commit(Update(USERS, link.user_id, set={"password": password}))

    await federation.visitor.submit(await to_remove(federation.visitor))

    sessions = (await server.store.find(SESSIONS, {"user_id": link.user_id})).records
    assert all(one.ended_at for one in sessions)
    assert (await federation.party.silently(federation.visitor))["error"] == "login_required"
