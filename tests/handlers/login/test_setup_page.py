"""The set-up link: a one-time password is replaced without an application, once."""

import asyncio
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from msgspec import structs

from idp.identity.users import admin_recovery
from idp.records import EVENTS, FAILURE_STREAKS, USERS
from idp.start import announcement, bootstrap
from storage import Update
from tests.support.sign_in.steps import Seen, at_password, shape, text_of
from tests.support.store.stored import dump

ADDRESS = "/ui/setup"
NEW = "seven green kettles hum"
WRONG = "Check your email or username and the one-time password."


async def fill(visitor, proof, **changes):
    page = await visitor.open(ADDRESS)
    return await visitor.send(page, **{**proof, "newPassword": NEW, **changes})


async def changes_of(server):
    return [e async for e in server.store.scan(EVENTS) if e.type == "user.password_changed"]


async def test_the_page_asks_for_everything_at_once(visitor):
    page = await visitor.open(ADDRESS)

    assert page.status == 200
    assert shape(page) == ("setup", ["loginName", "password", "newPassword"], [])
    assert set(page.inputs.values()) == {""}
    assert len(page.headers.get_list("Set-Cookie")) == 1  # so that a form sent twice is known


async def test_the_link_leads_there_and_hides_its_secret_from_servers(server, proof):
    parts = urlsplit(server.start.setup_url())

    assert (f"{parts.scheme}://{parts.netloc}", parts.path) == (server.issuer, ADDRESS)
    assert not parts.query
    admin = server.start.admin
    assert proof == {"loginName": admin.login_name, "password": admin.password}


async def test_a_browser_without_a_cookie_is_signed_in_afterwards(visitor, server, demo, proof):
    answer = await fill(visitor, proof)
    page = await visitor.follow(answer)

    assert (answer.status, answer.location) == (303, f"{server.issuer}/ui/console")
    assert (page.name, "Administrator" in page.text) == ("console/overview", True)
    assert "code" in await demo.silently(visitor)
    assert [event.actor == event.record_id for event in await changes_of(server)] == [True]


async def test_who_else_is_signed_in_here_stays_so(visitor, server, demo, proof):
    await demo.tokens(visitor, *server.user)
    before = dict(visitor.cookies)
    page = await visitor.follow(await fill(visitor, proof))

    assert "Dana Demo" in text_of(page)
    assert proof["loginName"] in text_of(page)
    assert dict(visitor.cookies) != before


async def test_the_new_password_counts_and_the_one_time_one_does_not(
    visitor, new_visitor, demo, proof
):
    await fill(visitor, proof)
    again = await fill(new_visitor(), proof)
    other = new_visitor()
    page = await at_password(other, demo, proof["loginName"])
    page = await other.submit(page, password=NEW)

    assert (again.status, again.name) == (400, "setup")
    assert WRONG in text_of(again)
    assert "code" in page.answer


async def test_a_used_link_is_printed_no_more(visitor, server, proof):
    await fill(visitor, proof)
    told = await bootstrap.make_ready(server.service)

    assert told.as_json()["admin"] == {
        "loginName": proof["loginName"],
        "password": None,
        "setupUrl": None,
    }
    assert ADDRESS not in announcement.banner(structs.replace(told, is_first=True), 0.1, "0")
    first = structs.replace(server.start, is_first=True)
    assert first.setup_url() in announcement.banner(first, 0.1, "0")


async def test_of_two_at_once_one_wins(new_visitor, server, proof):
    visitors = [new_visitor() for _ in range(3)]
    answers = await asyncio.gather(
        *[fill(one, proof, newPassword=f"{NEW} {n}") for n, one in enumerate(visitors)]
    )
    pages = [await one.open("/ui/login") for one in visitors]

    assert sorted(answer.status for answer in answers) == [303, 400, 400]
    assert sum(proof["loginName"] in text_of(page) for page in pages) == 1
    assert len(await changes_of(server)) == 1


@pytest.mark.parametrize(
    ("new", "said"),
    [
        ("kurz", ["Use at least 8 characters."]),
        ("password1", ["too common"]),
        ("", ["Use at least 8 characters."]),
        ("admin", ["Use at least 8 characters.", "little more than your name"]),
        ("slow\0train to the sea", ["characters that can't be used"]),
    ],
)
async def test_everything_wrong_with_the_new_password_is_reported_at_once(
    visitor, server, proof, new, said
):
    page = await fill(visitor, proof, newPassword=new)

    assert (page.status, page.name) == (400, "setup")
    assert all(text_of(page).count(one) == 1 for one in said), text_of(page)
    assert page.inputs == {**proof, "newPassword": ""}
    assert not await changes_of(server)
    again = await visitor.send(page, **page.inputs | {"newPassword": NEW})
    assert again.status == 303


async def test_a_form_sent_again_is_not_taken_for_a_guess(visitor, server, proof):
    page = await visitor.open(ADDRESS)
    before, sent = dict(visitor.cookies), {**proof, "newPassword": NEW}
    await visitor.send(page, **sent)
    stored = await dump(server.store)
    visitor.cookies.clear()
    visitor.cookies.update(before)
    again = await visitor.send(page, **sent)

    assert again.status == 303
    assert await dump(server.store) == stored
    assert not [one async for one in server.store.scan(FAILURE_STREAKS)]


async def test_the_one_time_password_can_not_be_chosen_again(visitor, proof):
    page = await fill(visitor, proof, newPassword=proof["password"])

    assert "This is your current one." in text_of(page)


@pytest.mark.parametrize(
    "changes",
    [
        {"password": "wrong"},
        {"password": ""},
        {"password": "\0"},
        {"loginName": "nobody"},
        {"loginName": "demo"},
    ],
)
async def test_a_wrong_pair_is_refused_alike_and_not_repeated(visitor, server, proof, changes):
    page = await fill(visitor, proof, **changes)

    assert (page.status, page.name) == (400, "setup")
    assert text_of(page).count(WRONG) == 1
    assert page.inputs["password"] == page.inputs["newPassword"] == ""
    assert not await changes_of(server)


@pytest.mark.parametrize("typed", ["", "  ", "x" * 201, "a\0b"])
async def test_a_name_that_is_none_is_a_problem_of_its_field(visitor, proof, typed):
    page = await fill(visitor, proof, loginName=typed)

    assert (page.status, page.name) == (400, "setup")
    (field,) = [one for one in Seen(page).all("input") if one.get("name") == "loginName"]
    assert field["aria-invalid"] == "true"


async def test_a_lasting_password_opens_nothing_here(visitor, server):
    name, password = server.user
    page = await fill(visitor, {"loginName": name, "password": password})

    assert (page.status, WRONG in text_of(page)) == (400, True)
    assert "Set-Cookie" not in page.headers


async def test_a_password_that_was_reset_is_replaced_here_too(visitor, server):
    password = await admin_recovery.reset_password(server.service, "demo", actor="test")
    page = await visitor.follow(await fill(visitor, {"loginName": "demo", "password": password}))

    assert "Dana Demo" in text_of(page)


async def test_an_expired_one_time_password_is_refused(visitor, server, proof):
    server.clock.advance(timedelta(minutes=60))

    assert (await fill(visitor, proof)).status == 400


async def test_a_deactivated_person_is_refused(visitor, server, proof):
    found = await server.store.find(USERS, {"login_key": proof["loginName"]})
    await server.store.commit(Update(USERS, found.records[0].id, set={"state": "inactive"}))

    assert (await fill(visitor, proof)).status == 400


async def test_guessing_is_slowed_as_at_the_sign_in(visitor, server, proof):
    for _ in range(6):
        assert (await fill(visitor, proof, password="wrong")).status == 400
    page = await fill(visitor, proof)

    assert (page.status, page.name, page.headers["Retry-After"]) == (429, "setup", "2")
    assert "Too many attempts. Try again in 2 seconds." in text_of(page)
    server.clock.advance(2)
    assert (await fill(visitor, proof)).status == 303


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
    ],
)
async def test_another_sites_form_changes_nothing(visitor, server, proof, headers):
    page = await visitor.post(ADDRESS, {**proof, "newPassword": NEW}, headers=headers)

    assert (page.status, page.name) == (403, "error")
    assert not await changes_of(server)


async def test_the_page_speaks_the_persons_language(visitor, proof):
    page = await visitor.post(
        f"{ADDRESS}?lang=de", {**proof, "password": "wrong", "newPassword": NEW}
    )

    assert "Richten Sie Ihr Konto ein" in text_of(page)
    assert "Ein Einmalpasswort gilt nur einmal" in text_of(page)


@pytest.mark.promise("start: registration")
async def test_a_link_that_was_used_says_so_and_leads_to_the_sign_in(visitor, new_visitor, proof):
    used = "This setup link was already used"
    before = await visitor.open(ADDRESS)
    await fill(visitor, proof)
    page = await new_visitor().open(ADDRESS)
    refused_again = await fill(new_visitor(), proof)

    assert used not in text_of(before)
    assert used in text_of(page)
    assert "/ui/console" in Seen(page).links
    assert used in text_of(refused_again)
