"""Somebody's own profile: what they change, what is refused, and nobody else's."""

import asyncio

import pytest

from handlers.account.profile import EditHandler
from idp.policies import effective
from idp.records import POLICIES, LoginRules, Policy
from storage import Insert
from tests.support.sign_in import account
from tests.support.sign_in.account import ACCOUNT
from tests.support.sign_in.steps import text_of
from tests.support.store import stored

EDIT = "/profile/edit"
NAMES = {"profile.givenName": "Dana", "profile.familyName": "Demo"}


@pytest.fixture
def form(io_loop, server, visitor):
    """The visitor is at the form of their profile."""
    return io_loop.run_sync(lambda: account.enter(server, visitor, EDIT))


async def test_a_stranger_signs_in_and_comes_back(server, visitor):
    page = await account.enter(server, visitor, "/profile")

    assert (page.name, page.url) == ("account/show", f"{server.issuer}{ACCOUNT}/profile")
    assert "Dana Demo" in page.text


async def test_the_parts_of_the_account_are_one_link_away(server, visitor):
    page = await account.enter(server, visitor)

    for part in ("profile", "security", "sessions", "language"):
        assert f'href="{ACCOUNT}/{part}"' in page.text
        assert (await visitor.open(f"{ACCOUNT}/{part}")).status == 200
    assert "/ui/console" not in page.text


async def test_what_is_changed_is_changed_by_the_person(server, visitor, form):
    sent = {
        **NAMES,
        "profile.displayName": "",
        "profile.nickName": "Dee",
        "profile.gender": "GENDER_DIVERSE",
        "profile.birthdate": "1990-01-31",
        "profile.zoneinfo": "Europe/Vienna",
        "profile.website": "https://dana.example/",
        "profile.familyName": "Doe",
    }

    page = await visitor.submit(form, **sent)

    user = await account.user(server)
    assert (page.name, "Saved." in text_of(page)) == ("account/show", True)
    assert (user.profile.display_name, user.profile.nick_name) == ("Dana Doe", "Dee")
    assert (user.profile.gender, user.profile.birthdate) == ("diverse", "1990-01-31")
    assert (user.profile.zoneinfo, user.profile.website) == (
        "Europe/Vienna",
        "https://dana.example/",
    )
    (event,) = await account.events_of(server, "user.changed")
    assert (event.actor, event.record_id, event.sequence) == (user.id, user.id, user.sequence)


REFUSED = [
    ({"profile.givenName": ""}, ["Enter a value."]),
    ({"profile.givenName": "  "}, ["Enter a value."]),
    ({"profile.givenName": "x" * 201}, ["Enter at most 200 characters."]),
    ({"profile.familyName": "a\0b"}, ["Remove the characters that can't be used."]),
    ({"profile.displayName": "x" * 201}, ["Enter at most 200 characters."]),
    ({"profile.nickName": "x" * 201}, ["Enter at most 200 characters."]),
    ({"profile.gender": "GENDER_ROBOT"}, ["Choose one from the list."]),
    ({"profile.birthdate": "31.1.1990"}, ["Enter a date such as 1990-01-31"]),
    ({"profile.zoneinfo": "Mars/Olympus"}, ["Enter a time zone"]),
    ({"profile.website": "javascript:alert(1)"}, ["Enter a URL such as"]),
    (
        {"profile.givenName": "", "profile.birthdate": "soon", "profile.website": "x"},
        ["Enter a value.", "Enter a date", "Enter a URL"],
    ),
]


@pytest.mark.parametrize(("changes", "said"), REFUSED)
async def test_everything_wrong_is_reported_at_once_and_nothing_is_written(
    server, visitor, form, changes, said
):
    before = await stored.everything(server.store)

    page = await visitor.submit(form, **{**NAMES, "profile.nickName": "kept", **changes})

    assert (page.status, page.name) == (400, "account/form")
    assert all(text_of(page).count(one) == 1 for one in said), text_of(page)
    assert page.inputs["profile.nickName"] == changes.get("profile.nickName", "kept")
    assert await stored.everything(server.store) == before


async def test_a_refusal_reads_the_person_again_only_after_another_change(
    visitor, form, monkeypatch
):
    entered, enter = [], EditHandler._enter

    async def noted(handler):
        entered.append(handler)
        await enter(handler)

    monkeypatch.setattr(EditHandler, "_enter", noted)
    await visitor.submit(form, **NAMES | {"profile.givenName": ""})
    wrong = len(entered)
    await visitor.send(form, **NAMES, **{"profile.nickName": "First"})
    await visitor.submit(form, **NAMES, **{"profile.nickName": "Second"})

    assert (wrong, len(entered)) == (1, 4)


async def test_an_old_form_overwrites_nothing_unseen(server, visitor, form):
    await visitor.submit(form, **NAMES, **{"profile.nickName": "First"})

    late = await visitor.submit(form, **NAMES, **{"profile.nickName": "Second"})

    assert late.status == 412
    assert "Someone else has changed this." in text_of(late)
    assert late.inputs["profile.nickName"] == "Second"
    assert (await account.user(server)).profile.nick_name == "First"
    done = await visitor.submit(late, **NAMES, **{"profile.nickName": "Second"})
    assert done.status == 200
    assert (await account.user(server)).profile.nick_name == "Second"


async def test_of_several_changes_at_once_one_is_stored_and_the_others_refused(
    server, visitor, form
):
    sent = [visitor.send(form, **NAMES, **{"profile.nickName": f"N{n}"}) for n in range(3)]

    answers = await asyncio.gather(*sent)

    assert sorted(answer.status for answer in answers) == [303, 412, 412]
    assert len(await account.events_of(server, "user.changed")) == 1


@pytest.mark.parametrize("sequence", ["", "x", "9" * 6000, "-1", "١", "1e3"])
async def test_a_spoilt_state_harms_nobody(visitor, form, sequence):
    page = await visitor.send(form, **NAMES, sequence=sequence)

    assert page.status in (303, 412)


async def test_nobody_changes_anothers_profile(server, visitor, new_visitor, form):
    stranger = new_visitor()
    await server.copy_user("minnie")
    await account.enter(server, stranger, EDIT, ("minnie", server.user[1]))
    before = await stored.everything(server.store)

    refused = await stranger.send(form, **NAMES, **{"profile.nickName": "Mine"})

    assert (refused.status, refused.name) == (403, "error")
    assert await stored.everything(server.store) == before


@pytest.mark.parametrize("token", ["", "wrong"])
async def test_a_form_without_its_token_changes_nothing(server, visitor, form, token):
    before = await stored.everything(server.store)

    refused = await visitor.send(form, **NAMES, token=token)

    assert refused.status == 403
    assert await stored.everything(server.store) == before


async def test_the_form_of_another_page_is_not_this_ones(server, visitor, form):
    other = await visitor.open(f"{ACCOUNT}/language")

    refused = await visitor.send(form, **NAMES, token=other.hidden["token"])

    assert refused.status == 403


async def test_another_sites_form_changes_nothing(visitor, form):
    sent = {**form.hidden, **NAMES}
    refused = await visitor.post(form.url, sent, headers={"Sec-Fetch-Site": "cross-site"})

    assert refused.status == 403


async def test_cancel_leads_back_and_changes_nothing(server, visitor, form):
    page = await visitor.submit(form, decision="cancel")

    assert page.url == f"{server.issuer}{ACCOUNT}/profile"
    assert await account.events_of(server, "user.changed") == []


async def test_a_form_that_was_opened_too_long_ago_leads_to_a_sign_in(server, visitor, form):
    server.clock.advance(40 * 24 * 3600)

    page = await visitor.submit(form, **NAMES)

    assert page.name == "login-name"
    assert await account.events_of(server, "user.changed") == []


async def test_the_pages_and_the_mails_speak_the_chosen_language(server, visitor):
    page = await account.enter(server, visitor, "/language")

    page = await visitor.submit(page, **{"profile.preferredLanguage": "de"})

    assert 'lang="de"' in page.text
    assert 'lang="de"' in (await visitor.open(ACCOUNT)).text
    assert (await account.user(server)).profile.preferred_language == "de"


@pytest.mark.parametrize("tag", ["", "tlh-x-much-too-long", "no language"])
async def test_no_other_language_is_taken(server, visitor, tag):
    page = await account.enter(server, visitor, "/language")

    page = await visitor.submit(page, **{"profile.preferredLanguage": tag})

    assert page.status in (200, 400)
    assert (await account.user(server)).profile.preferred_language in (None, "en")


@pytest.mark.parametrize("path", ["/profile/edit", "/email", "/phone", "/phone/remove"])
async def test_an_organization_may_look_after_it_all_itself(server, visitor, path):
    page = await account.enter(server, visitor, path)
    user = await account.user(server)
    rules = LoginRules(lock_profile=True)
    id, now = effective.policy_id(None, "login"), server.clock.now()
    policy = Policy(id=id, kind="login", rules=rules, created_at=now, changed_at=now)
    await server.store.commit(Insert(POLICIES, policy))
    server.clock.advance(10)

    refused = await visitor.submit(page, email="dana@new.example", **NAMES)
    shown = await visitor.open(f"{ACCOUNT}/profile")

    assert (refused.status, refused.name) == (403, "account/message")
    assert "Your organization manages this." in text_of(refused)
    assert "Your organization manages this." in text_of(shown)
    assert f'href="{ACCOUNT}{EDIT}"' not in shown.text
    assert await account.user(server) == user
