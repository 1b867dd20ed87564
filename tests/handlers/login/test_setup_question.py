"""The set-up form of a public installation asks whether strangers may open accounts."""

from __future__ import annotations

import asyncio

import pytest

from idp.identity.sessions import own_password
from idp.management.policies import policies
from idp.policies import effective
from idp.records import EVENTS, POLICIES, USERS, LoginRules
from storage import Insert, Update
from tests.support.sign_in.steps import Seen, text_of

ADDRESS = "/ui/setup"
NEW = "seven green kettles hum"
QUESTION = "Can anyone create an account?"


@pytest.fixture
def settings():
    return {"profile": "public"}


async def fill(visitor, proof, **fields):
    page = await visitor.open(ADDRESS)
    return await visitor.send(page, **{**proof, "newPassword": NEW, **fields})


async def stored(server):
    return [one async for one in server.store.scan(POLICIES)]


async def allows(server):
    return (await effective.login(server.service, None)).allow_register


@pytest.mark.promise("start: registration")
async def test_the_question_is_asked_with_no_as_its_answer(visitor):
    page = await visitor.open(ADDRESS)
    options = Seen(page).all("option")
    ours = [one for one in options if one.get("value") in ("no", "yes")]

    assert QUESTION in text_of(page)
    assert [(one["value"], "selected" in one) for one in ours] == [("no", True), ("yes", False)]


@pytest.mark.promise("start: registration")
@pytest.mark.parametrize(
    ("fields", "is_open"),
    [
        ({"strangers": "no"}, False),
        ({"strangers": "yes"}, True),
        ({}, False),
        ({"strangers": "maybe"}, False),
    ],
)
async def test_the_answer_is_the_installations_login_policy(
    visitor, new_visitor, demo, server, proof, fields, is_open
):
    answer = await fill(visitor, proof, **fields)
    (one,) = await stored(server)
    events = [e async for e in server.store.scan(EVENTS) if e.type == "login_policy.created"]
    login = await new_visitor().open(demo.authorize_url())

    assert answer.status == 303
    assert (one.org_id, one.rules.allow_register) == (None, is_open)
    assert one.rules.password_check_seconds == server.service.config.password_check_seconds
    (administrator,) = (await server.store.find(USERS, {"login_key": proof["loginName"]})).records
    assert [event.actor for event in events] == [administrator.id]
    assert bool([link for link in Seen(login).links if "register" in link]) is is_open


async def test_a_form_that_is_refused_keeps_asking_and_stores_nothing(visitor, server, proof):
    page = await fill(visitor, proof, newPassword="kurz", strangers="yes")

    assert (page.status, page.name) == (400, "setup")
    assert QUESTION in text_of(page)
    assert await stored(server) == []


@pytest.mark.promise("start: registration")
@pytest.mark.parametrize(
    "wrong", [{"newPassword": "kurz"}, {"password": "wrong"}, {"loginName": ""}]
)
@pytest.mark.parametrize("answer", ["yes", "no"])
async def test_the_answer_stays_chosen_when_the_form_is_refused(
    visitor, server, proof, wrong, answer
):
    page = await fill(visitor, proof, **wrong, strangers=answer)
    chosen = [one["value"] for one in Seen(page).all("option") if "selected" in one]
    again = await visitor.send(page, **{**proof, "newPassword": NEW, "strangers": answer})

    assert page.status == 400
    assert [one for one in chosen if one in ("no", "yes")] == [answer]
    assert again.status == 303
    assert [one.rules.allow_register for one in await stored(server)] == [answer == "yes"]


async def test_the_question_is_asked_once(visitor, new_visitor, server, proof):
    await fill(visitor, proof, strangers="yes")
    page = await new_visitor().open(ADDRESS)

    assert QUESTION not in text_of(page)


async def test_of_two_answers_at_once_one_counts(new_visitor, server, proof):
    said = ["yes", "no", "yes"]
    answers = await asyncio.gather(
        *[
            fill(new_visitor(), proof, newPassword=f"{NEW} {n}", strangers=each)
            for n, each in enumerate(said)
        ]
    )
    won = [answer.status for answer in answers].index(303)

    assert sorted(answer.status for answer in answers) == [303, 400, 400]
    assert len(await stored(server)) == 1
    assert await allows(server) is (said[won] == "yes")


async def test_a_policy_that_was_stored_meanwhile_counts(visitor, server, proof, monkeypatch):
    page = await visitor.open(ADDRESS)
    replace = own_password.replace_one_time

    async def after_another(service, *given):
        if not await stored(server):
            rules = LoginRules(allow_register=False)
            record = policies.new(None, rules, server.clock.now(), "login")
            await service.store.commit(Insert(POLICIES, record))
        return await replace(service, *given)

    monkeypatch.setattr(own_password, "replace_one_time", after_another)
    answer = await visitor.send(page, **proof, newPassword=NEW, strangers="yes")

    assert answer.status == 303
    assert await allows(server) is False
    assert len(await stored(server)) == 1


async def test_nobody_but_the_first_administrator_answers(visitor, server, proof):
    """A person with a one-time password sends the same form, with an answer of their own."""
    name, password = await server.copy_user("other")
    (user,) = (await server.store.find(USERS, {"login_key": "other"})).records
    changed = user.password
    changed.must_change = True
    await server.store.commit(Update(USERS, user.id, set={"password": changed}))
    page = await visitor.open(ADDRESS)
    fields = {"loginName": name, "password": password, "newPassword": NEW, "strangers": "yes"}
    answer = await visitor.send(page, **fields)

    assert answer.status == 303
    assert await stored(server) == []
    assert await allows(server) is False


async def test_it_is_not_asked_where_a_policy_has_answered(visitor, server, proof):
    record = policies.new(None, LoginRules(allow_register=False), server.clock.now(), "login")
    await server.store.commit(Insert(POLICIES, record))
    page = await visitor.open(ADDRESS)
    await fill(visitor, proof, strangers="yes")

    assert QUESTION not in text_of(page)
    assert await allows(server) is False


class TestWhereTheSettingOpensRegistration:
    @pytest.fixture
    def settings(self):
        return {"profile": "public", "self_registration": True}

    async def test_it_is_not_asked(self, visitor, server, proof):
        page = await visitor.open(ADDRESS)
        await fill(visitor, proof, strangers="no")

        assert QUESTION not in text_of(page)
        assert await stored(server) == []
        assert await allows(server) is True


class TestTrial:
    @pytest.fixture
    def settings(self):
        return {}

    async def test_it_is_not_asked(self, visitor, server, proof):
        page = await visitor.open(ADDRESS)
        await fill(visitor, proof, strangers="no")

        assert QUESTION not in text_of(page)
        assert await stored(server) == []
        assert await allows(server) is True
