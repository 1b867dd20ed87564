"""Service users, signing keys and background work in the console."""

from __future__ import annotations

import html
import re
from datetime import timedelta

import pytest

from idp.background.schedule import JOBS
from idp.keys.key_ring import PUBLISHED_CACHE_SECONDS
from idp.records import PATS, SIGNING_KEYS, USERS
from storage import Update
from tests.support.management import console
from tests.support.management.callers import Caller
from tests.support.store.stored import everything

NEW = "/ui/console/service-users/new"


async def all_of(server, collection):
    return [one async for one in server.store.scan(collection)]


def shown(page):
    """What is shown once."""
    return [html.unescape(one) for one in re.findall(r"<code>(.*?)</code></pre>", page.text)]


@pytest.fixture
def address(io_loop, server, visitor):
    """The page of a service user that the administrator has made."""

    async def make():
        await console.admin(server, visitor)
        form = await visitor.get(NEW)
        page = await visitor.submit(form, name="Backup", userName="nightly-backup")
        assert "Created." in page.text, page.text
        return page.url.removeprefix(server.issuer).partition("?")[0]

    return io_loop.run_sync(make)


async def new_token(visitor, address):
    """The answer to the form as it comes."""
    form = await visitor.get(f"{address}/pats/new")
    return await visitor.submit(form, expirationDate=form.inputs["expirationDate"])


async def test_a_service_user_is_made_and_listed(server, visitor, address):
    page = await visitor.get("/ui/console/service-users")
    shown_user = await visitor.get(address)

    assert f'href="{address}"' in page.text
    assert "nightly-backup" in shown_user.text
    assert [one.kind for one in await all_of(server, USERS) if one.id in address] == ["machine"]


async def test_a_token_lasts_a_week_by_default(server, visitor, address):
    page = await new_token(visitor, address)
    pat = next(one for one in await all_of(server, PATS) if one.user_id in address)
    days = (pat.expires_at.date() - server.clock.now().date()).days

    assert (page.status, page.name) == (200, "console/made")
    assert days == 7
    answer = await Caller(visitor, shown(page)[0]).get("/management/v1/orgs/me")
    assert answer.status != 401
    assert shown(page)[0] not in (await visitor.get(address)).text


@pytest.mark.parametrize("days", [91, 400, 30_000])
async def test_a_token_for_more_than_ninety_days_has_to_be_meant(server, visitor, address, days):
    date = f"{server.clock.now() + timedelta(days=days):%Y-%m-%d}"
    before = await everything(server.store)
    form = await visitor.get(f"{address}/pats/new")
    refused = await visitor.submit(form, expirationDate=date)

    assert (refused.status, refused.name) == (400, "console/action")
    assert 'id="expirationDate-problem"' in refused.text
    assert await everything(server.store) == before
    page = await visitor.submit(refused, expirationDate=date, isLong="on")
    assert page.name == "console/made"


@pytest.mark.parametrize("date", ["", "soon", "2020-01-01", "2026-13-01", "x" * 300])
async def test_a_token_without_a_proper_end_is_not_made(server, visitor, address, date):
    before = await everything(server.store)
    form = await visitor.get(f"{address}/pats/new")
    page = await visitor.submit(form, expirationDate=date, isLong="on")

    assert (page.status, page.name) == (400, "console/action")
    assert 'class="problem"' in page.text
    assert await everything(server.store) == before


async def test_a_token_that_was_revoked_opens_nothing(server, visitor, address):
    token = shown(await new_token(visitor, address))[0]
    page = await visitor.get(address)
    revoke = re.search(rf'href="({address}/pats/[^"]+/delete)"', page.text)[1]
    await visitor.submit(await visitor.get(revoke))

    answer = await Caller(visitor, token).get("/management/v1/orgs/me")
    assert answer.status == 401
    assert revoke not in (await visitor.get(address)).text


async def test_a_secret_is_made_shown_once_and_deleted(visitor, address):
    page = await visitor.submit(await visitor.get(f"{address}/secret"))
    id, secret = shown(page)
    after = await visitor.get(address)
    gone = await visitor.submit(await visitor.get(f"{address}/secret/delete"))

    assert id in address
    assert secret not in after.text
    assert f"{address}/secret/delete" in after.text
    assert f"{address}/secret/delete" not in gone.text


async def test_of_two_secrets_the_old_one_is_ended_before_its_time(server, visitor, address):
    await visitor.submit(await visitor.get(f"{address}/secret"))
    await visitor.submit(await visitor.get(f"{address}/secret"), overlap="24h")
    page = await visitor.get(address)
    end = re.findall(rf'href="({address}/secrets/[^"]+/delete)"', page.text)
    gone = await visitor.submit(await visitor.get(end[0]))

    assert len(end) == 1
    assert end[0] not in gone.text
    assert [one.old_secret for one in await all_of(server, USERS) if one.id in address] == [None]


@pytest.mark.full
async def test_a_service_user_is_changed_and_what_is_emptied_goes(server, visitor, address):
    form = await visitor.get(f"{address}/edit")
    await visitor.submit(form, name="Copies", userName="copier", description="At night.")
    form = await visitor.get(f"{address}/edit")
    page = await visitor.submit(form, name="Copies", userName="copier", description="")
    user = next(one for one in await all_of(server, USERS) if one.id in address)

    assert form.inputs["description"] == "At night."
    assert ("Saved." in page.text, user.user_name) == (True, "copier")
    assert (user.profile.display_name, user.description) == ("Copies", None)


@pytest.mark.full
async def test_a_service_user_is_deleted_by_typing_its_name(server, visitor, address):
    link = re.search(r'href="([^"]+/delete)"', (await visitor.get(address)).text)[1]
    form = await visitor.get(link)
    before = await everything(server.store)
    wrong = await visitor.submit(form, confirm="somebody")

    assert wrong.status == 400
    assert await everything(server.store) == before
    page = await visitor.submit(wrong, confirm="nightly-backup")
    assert "/service-users?" in page.url
    assert (await visitor.get(address)).status == 404


async def test_a_locked_service_user_is_let_in_again(server, visitor, address):
    user = next(one for one in await all_of(server, USERS) if one.id in address)
    await server.store.commit(Update(USERS, user.id, set={"state": "locked"}))
    page = await visitor.get(address)
    after = await visitor.submit(await visitor.get(f"{address}/unlock"))

    assert f"{address}/unlock" in page.text
    assert f"{address}/reactivate" not in page.text
    assert f"{address}/deactivate" in after.text


async def test_keys_show_their_states_and_are_rotated(server, visitor):
    await console.admin(server, visitor)
    before = await visitor.get("/ui/console/keys")
    server.clock.advance(PUBLISHED_CACHE_SECONDS)
    form = await visitor.get("/ui/console/keys/rotate")
    after = await visitor.submit(form)
    active = {one.id for one in await all_of(server, SIGNING_KEYS) if one.state == "active"}

    assert "at most 12 hours" in form.text
    assert (">retired<" in before.text, ">retired<" in after.text) == (False, True)
    assert all(f">{id}<" in after.text for id in active)


async def test_keys_are_not_rotated_before_everybody_knows_the_next(server, visitor):
    await console.admin(server, visitor)
    server.clock.advance(PUBLISHED_CACHE_SECONDS)
    await visitor.submit(await visitor.get("/ui/console/keys/rotate"))
    form = await visitor.get("/ui/console/keys/rotate")
    before = await everything(server.store)
    page = await visitor.submit(form)

    assert page.status == 400
    assert "can be rotated again from" in page.text
    assert await everything(server.store) == before


async def test_a_key_is_removed_by_typing_its_id(server, visitor):
    await console.admin(server, visitor)
    key = next(one for one in await all_of(server, SIGNING_KEYS) if one.state == "next")
    form = await visitor.get(f"/ui/console/keys/{key.id}/remove")
    wrong = await visitor.submit(form, confirm="yes")
    kept = await server.store.get(SIGNING_KEYS, key.id)
    await visitor.submit(wrong, confirm=key.id)

    assert (wrong.status, kept.state) == (400, "next")
    assert (await server.store.get(SIGNING_KEYS, key.id)).state == "removed"
    assert (await visitor.get("/ui/console/keys/nothing/remove")).status == 404


async def test_keys_and_jobs_are_for_who_sees_the_whole_installation(server, visitor):
    await console.manager(server, visitor, "ORG_OWNER")
    pages = ["keys", "keys/rotate", "jobs"]

    assert [(await visitor.get(f"/ui/console/{page}")).status for page in pages] == [403] * 3


async def test_the_jobs_are_those_that_run_and_say_when_they_are_next(server, visitor):
    await console.admin(server, visitor)
    page = await visitor.get("/ui/console/jobs")
    rows = page.text.count("<tr>") - 1

    assert rows == len(JOBS)
    assert not [name for name in JOBS if f">{name}<" in page.text]
