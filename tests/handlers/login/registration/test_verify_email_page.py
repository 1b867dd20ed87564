"""The code from the mail: what it does, how it is refused, and who wins when two are at it."""

import asyncio

import pytest

from idp.records import APPLICATIONS, AUTH_REQUESTS, ORGANIZATIONS, REGISTRATIONS, USERS
from storage import Delete, Update
from tests.support.sign_in.registering import (
    ADDRESS,
    FIELDS,
    at_code,
    at_register,
    code_for,
    mails,
    newest,
    registered,
    users,
)
from tests.support.sign_in.steps import Seen, leads_on, text_of
from tests.support.store.stored import count, everything, only

WRONG = "Enter the code from the newest email. This one is wrong."
TOO_OFTEN = "Request a new code. There were too many failed attempts."
EXPIRED = "That code has expired. We've sent a new one."
OTHER_BROWSER = "Enter the code from the email in the browser in which you started"


def other_than(code):
    return f"{(int(code) + 1) % 10**8:08}"


async def test_the_page_says_where_the_mail_went_and_where_it_is_held(visitor, demo):
    page = await at_code(visitor, demo)
    field = next(e for e in Seen(page).all("input") if e.get("name") == "code")

    assert ADDRESS in text_of(page)
    assert "isn't set up to send email" in text_of(page)
    assert f"{visitor.base}/dev/mail" in Seen(page).links
    assert (field["autocomplete"], field["inputmode"]) == ("one-time-code", "numeric")


async def test_a_wrong_code_is_reported_beside_the_field_and_makes_nothing(visitor, demo, server):
    page = await at_code(visitor, demo)
    before = await everything(server.store)
    answer = await visitor.submit(page, code=other_than(await code_for(visitor)))

    assert (answer.status, answer.name) == (400, "verify-email")
    assert text_of(answer).count(WRONG) == 1
    assert answer.inputs["code"] == ""
    assert await everything(server.store) == before


async def test_a_code_may_be_typed_in_groups_after_a_mistake(visitor, demo):
    page = await at_code(visitor, demo)
    code = await code_for(visitor)
    await visitor.submit(page, code="1")
    answer = await visitor.submit(page, code=f" {code[:4]} {code[4:]} ")

    assert "code" in answer.answer


@pytest.mark.parametrize("typed", ["", " ", "\0", "١٢٣", "0" * 1000, "<b>", "1e7"])
async def test_what_is_no_code_is_a_wrong_one(visitor, demo, server, typed):
    page = await at_code(visitor, demo)
    answer = await visitor.submit(page, code=typed)

    assert answer.status == 400
    assert WRONG in text_of(answer)
    assert await users(server) == set()


async def test_five_wrong_codes_end_it_and_another_mail_begins_anew(visitor, demo, server):
    page = await at_code(visitor, demo)
    code = await code_for(visitor)
    for _ in range(5):
        wrong = await visitor.submit(page, code=other_than(code))
        assert WRONG in text_of(wrong)
    late = await visitor.submit(page, code=code)
    assert (late.status, text_of(late).count(TOO_OFTEN)) == (400, 1)
    server.clock.advance(60)
    again = await visitor.submit(late, decision="resend")
    answer = await visitor.submit(again, code=await code_for(visitor))

    assert "code" in answer.answer


async def test_a_link_fills_the_code_in_and_the_form_makes_it_count(visitor, demo, server):
    await at_code(visitor, demo)
    mail = await newest(visitor)
    page = await visitor.open(mail["url"])
    assert (page.name, page.inputs["code"]) == ("verify-email", mail["code"])
    assert await users(server) == set()
    answer = await visitor.submit(page, code=page.inputs["code"])

    assert "code" in answer.answer


@pytest.mark.parametrize("has_cookie", [False, True])
async def test_a_link_in_another_browser_says_where_the_code_counts(
    visitor, new_visitor, demo, server, has_cookie
):
    page = await at_code(visitor, demo)
    mail = await newest(visitor)
    other = new_visitor()
    if has_cookie:
        await other.open(demo.authorize_url())
    there = await other.open(mail["url"])
    stolen = await other.post(mail["url"], {**page.hidden, "code": mail["code"]})

    assert (there.status, there.name) == (410, "expired")
    assert OTHER_BROWSER in text_of(there)
    assert leads_on(there)
    assert (stolen.status, stolen.name) == (403, "expired")
    assert await users(server) == set()
    assert "code" in (await visitor.submit(page, code=mail["code"])).answer


async def test_a_link_that_was_used_says_that_it_is_done(visitor, demo):
    page = await at_code(visitor, demo)
    mail = await newest(visitor)
    done = await visitor.submit(page, code=mail["code"])
    await demo.redeem(visitor, done.answer["code"])
    again = await visitor.open(mail["url"])
    posted = await visitor.post(page.url, {**page.hidden, "code": mail["code"]})

    assert (again.status, again.name, posted.name) == (410, "expired", "expired")
    assert "This sign-in is already finished." in text_of(again)
    assert leads_on(again)


async def test_another_mail_has_to_wait_a_minute(visitor, demo, server):
    page = await at_code(visitor, demo)
    server.clock.advance(15)
    early = await visitor.submit(page, decision="resend")
    server.clock.advance(45)
    page = await visitor.submit(page, decision="resend")

    assert (early.status, early.name, early.headers["Retry-After"]) == (429, "verify-email", "45")
    assert "You can request another in 45 seconds." in text_of(early)
    assert (page.status, page.name) == (200, "verify-email")
    assert "We've sent a new code." in text_of(page)
    assert len(await mails(visitor)) == 2


async def test_the_code_before_counts_no_more(visitor, demo, server):
    page = await at_code(visitor, demo)
    first = await code_for(visitor)
    server.clock.advance(60)
    page = await visitor.submit(page, decision="resend")
    refused = await visitor.submit(page, code=first)
    answer = await visitor.submit(page, code=await code_for(visitor))

    assert WRONG in text_of(refused)
    assert "code" in answer.answer


@pytest.mark.parametrize("is_right", [True, False])
async def test_a_code_that_has_expired_is_replaced_at_once(visitor, demo, server, is_right):
    page = await at_code(visitor, demo)
    code = await code_for(visitor)
    server.clock.advance(600)
    late = await visitor.submit(page, code=code if is_right else other_than(code))
    assert (late.status, text_of(late).count(EXPIRED)) == (400, 1)
    assert await users(server) == set()
    answer = await visitor.submit(late, code=await code_for(visitor))

    assert "code" in answer.answer
    assert len(await mails(visitor)) == 2


async def test_a_code_counts_until_its_last_second(visitor, demo, server):
    page = await at_code(visitor, demo)
    server.clock.advance(599)
    answer = await visitor.submit(page, code=await code_for(visitor))

    assert "code" in answer.answer


async def test_an_expired_code_brings_no_mail_beyond_the_limit(visitor, demo, server):
    page = await at_code(visitor, demo)
    for _ in range(4):
        server.clock.advance(60)
        page = await visitor.submit(page, decision="resend")
    server.clock.advance(600)
    late = await visitor.submit(page, code="00000000")

    assert (late.status, late.name) == (429, "verify-email")
    assert len(await mails(visitor)) == 5


async def test_a_mistyped_address_is_corrected_without_typing_all_again(visitor, demo, server):
    page = await at_code(visitor, demo, email="nroa@example.org", userName="nora")
    mistaken = await code_for(visitor, "nroa@example.org")
    (link,) = [link for link in Seen(page).links if "/ui/login/register" in link]
    form = await visitor.open(link)
    kept = {**form.inputs, "newPassword": FIELDS["newPassword"]}
    assert kept == FIELDS | {"email": "nroa@example.org", "userName": "nora"}
    page = await visitor.submit(form, **(kept | {"email": ADDRESS}))
    refused = await visitor.submit(page, code=mistaken)
    answer = await visitor.submit(page, code=await code_for(visitor))

    assert WRONG in text_of(refused)
    assert "code" in answer.answer
    assert await users(server) == {"nora"}
    assert "registrations" not in await count(server.store)


async def test_who_remembers_an_account_signs_in_instead(visitor, demo, server):
    page = await at_code(visitor, demo)
    (link,) = [link for link in Seen(page).links if "/ui/login/name" in link]
    name = await visitor.open(link)
    password = await visitor.submit(name, loginName=server.user[0])
    back = await visitor.open(page.url)
    answer = await visitor.submit(password, password=server.user[1])

    assert back.name == "verify-email"
    assert "code" in answer.answer
    assert await users(server) == set()


async def test_the_form_sent_twice_brings_one_mail(visitor, demo, server):
    page = await at_register(visitor, demo)
    first, second = [await visitor.submit(page, **FIELDS) for _ in range(2)]
    changed = await visitor.submit(page, **(FIELDS | {"givenName": "Eleonora"}))

    assert [each.name for each in (first, second, changed)] == ["verify-email"] * 3
    assert len(await mails(visitor)) == 1
    await visitor.submit(changed, code=await code_for(visitor))
    page = await server.store.find(USERS, {"login_key": ADDRESS})
    assert page.records[0].profile.given_name == "Eleonora"


async def test_the_form_sent_twice_at_once_brings_one_mail(visitor, demo, server):
    page = await at_register(visitor, demo)
    answers = await asyncio.gather(*[visitor.submit(page, **FIELDS) for _ in range(4)])

    assert {(each.status, each.name) for each in answers} == {(200, "verify-email")}
    assert len(await mails(visitor)) == 1
    assert len([each async for each in server.store.scan(REGISTRATIONS)]) == 1


async def test_the_code_sent_many_times_at_once_makes_one_account(visitor, demo, server):
    page = await at_code(visitor, demo)
    code = await code_for(visitor)
    answers = await asyncio.gather(*[visitor.send(page, code=code) for _ in range(5)])

    assert {each.name for each in answers} <= {None, "expired"}  # none is told a mistake
    counted = await count(server.store)
    assert await users(server) == {ADDRESS}
    assert counted["sessions"] == 1


async def test_guesses_made_at_once_cost_what_they_would_one_after_another(visitor, demo, server):
    page = await at_code(visitor, demo)
    code = await code_for(visitor)
    guesses = [f"{(int(code) + n) % 10**8:08}" for n in range(1, 33)]
    answers = await asyncio.gather(*[visitor.send(page, code=guess) for guess in guesses])
    late = await visitor.send(page, code=code)

    said = [text_of(answer) for answer in answers]
    assert [answer.status for answer in answers] == [400] * 32
    assert sum(WRONG in each for each in said) == 5
    assert sum(TOO_OFTEN in each for each in said) == 27
    assert TOO_OFTEN in text_of(late)
    assert await users(server) == set()


@pytest.mark.parametrize("names", [("", ""), ("nora", "nora2"), ("nora", "")])
async def test_of_two_accounts_with_one_mailbox_made_at_once_one_is(
    new_visitor, demo, server, names
):
    browsers, pages, codes = [new_visitor(), new_visitor()], [], []
    for browser, name in zip(browsers, names, strict=True):
        server.clock.advance(1)
        pages.append(await at_code(browser, demo, userName=name))
        codes.append(await code_for(browser))
    answers = await asyncio.gather(
        *[b.submit(p, code=c) for b, p, c in zip(browsers, pages, codes, strict=True)]
    )

    assert len(await users(server)) == 1
    assert (await count(server.store))["sessions"] == 1
    (lost,) = [answer for answer in answers if "code" not in answer.answer]
    assert (lost.status, lost.name) == (400, "verify-email")
    assert "An account with this email already exists." in text_of(lost)


async def test_of_two_accounts_with_one_name_made_at_once_one_gets_it(new_visitor, demo, server):
    browsers, pages, codes = [new_visitor(), new_visitor()], [], []
    for n, browser in enumerate(browsers):
        pages.append(await at_code(browser, demo, userName="nora", email=f"nora{n}@example.org"))
        codes.append(await code_for(browser, f"nora{n}@example.org"))
    answers = await asyncio.gather(
        *[b.submit(p, code=c) for b, p, c in zip(browsers, pages, codes, strict=True)]
    )

    assert await users(server) == {"nora"}
    (loser,) = [n for n, answer in enumerate(answers) if "code" not in answer.answer]
    assert answers[loser].name == "user-name"
    done = await browsers[loser].submit(answers[loser], userName="eleonora")
    assert "code" in done.answer
    assert await users(server) == {"nora", "eleonora"}


async def test_a_second_tab_follows_the_first(visitor, demo):
    form = await at_register(visitor, demo)
    page = await visitor.submit(form, **FIELDS)
    tab = await visitor.open(form.url.replace("/ui/login/register", "/ui/login"))
    assert tab.name == "verify-email"
    answer = await visitor.submit(tab, code=await code_for(visitor))
    late = await visitor.submit(page, code="00000000")

    assert "code" in answer.answer
    assert late.location == answer.location


@pytest.mark.parametrize("page_name", ["verify-email", "user-name"])
async def test_without_a_form_before_it_the_page_leads_to_the_form(visitor, demo, page_name):
    form = await at_register(visitor, demo)
    address = form.url.replace("/register", f"/{page_name}")
    shown = await visitor.open(address)
    posted = await visitor.follow(
        await visitor.post(address, {**form.hidden, "code": "1", "userName": "x"})
    )

    assert (shown.name, posted.name) == ("register", "register")


async def test_an_account_that_is_gone_is_begun_anew(visitor, demo, server):
    page = await at_code(visitor, demo)
    await server.store.commit(Delete(REGISTRATIONS, (await only(server.store, REGISTRATIONS)).id))
    answer = await visitor.submit(page, code="00000000")
    server.clock.advance(1)

    assert (answer.status, answer.name) == (200, "register")
    assert "code" in (await registered(visitor, demo)).answer


async def test_where_the_organization_was_closed_meanwhile_the_login_page_follows(
    visitor, demo, server
):
    page = await at_code(visitor, demo)
    code = await code_for(visitor)
    client = await server.store.get(APPLICATIONS, demo.client_id)
    await server.store.commit(Update(ORGANIZATIONS, client.org_id, set={"state": "inactive"}))
    answer = await visitor.submit(page, code=code)

    assert (answer.status, answer.name) == (200, "login-name")
    assert not any("/register" in link for link in Seen(answer).links)
    assert await users(server) == set()


async def test_what_waits_ends_with_its_sign_in(visitor, demo, server):
    page = await at_code(visitor, demo)
    waiting = await only(server.store, REGISTRATIONS)
    request = [each async for each in server.store.scan(AUTH_REQUESTS)][0]
    server.clock.advance(server.service.config.sign_in_seconds)
    late = await visitor.submit(page, code="00000000")

    assert waiting.expires_at == request.ends_at
    assert (late.status, late.name) == (410, "expired")
    assert "registrations" not in await count(server.store)
