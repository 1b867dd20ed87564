"""Whoever forgot their password chooses a new one by a mail, and the sign-in goes on."""

import asyncio

import pytest

from idp.identity.guesses import mail_limits
from idp.mail import messages
from idp.oauth.sign_in import password_reset
from idp.records import EVENTS, OUTBOX, USERS, VERIFICATIONS
from storage import Update
from tests.support.management.callers import instance_owner
from tests.support.sign_in.registering import mails
from tests.support.sign_in.resetting import (
    ADDRESS,
    NEW_PASSWORD,
    at_reset,
    at_reset_code,
    chosen,
    give_address,
    link_to,
    newest,
)
from tests.support.sign_in.steps import Seen, at_password, cancel, leads_on, shape, text_of
from tests.support.store.stored import count, everything

ON_ITS_WAY = "If there is an account, "
WRONG = "Enter the code from the newest email. This one is wrong."


async def test_a_code_from_the_mail_leads_to_a_new_password_and_into_the_application(
    visitor, server, demo
):
    await give_address(server)
    page = await at_reset_code(visitor, demo, state="kept")
    choice = await visitor.submit(page, code=(await newest(visitor))["code"])
    done = await visitor.submit(choice, newPassword=NEW_PASSWORD)

    assert shape(page) == (
        "reset-code",
        ["loginName", "code"],
        [("decision", "resend"), ("decision", "cancel")],
    )
    assert shape(choice)[:2] == ("change-password", ["loginName", "newPassword"])
    assert choice.inputs["loginName"] == "demo"
    assert "works only once" not in text_of(choice)
    assert "code" in done.answer
    assert done.answer["state"] == "kept"


async def test_the_login_name_that_was_typed_is_on_each_page(visitor, server, demo):
    asked = await at_reset(visitor, demo, "demo@elsewhere")
    page = await visitor.submit(asked, loginName="demo@elsewhere")

    assert asked.inputs["loginName"] == page.inputs["loginName"] == "demo@elsewhere"
    assert "readonly" in Seen(page).all("input")[1]


async def make_inactive(server):
    await give_address(server, state="inactive")


async def make_unproven(server):
    await give_address(server, is_verified=False)


async def make_unreachable(server):
    await server.store.commit(Update(USERS, await give_address(server), set={"email": None}))


@pytest.mark.parametrize("make", [make_inactive, make_unproven, make_unreachable])
async def test_who_can_not_be_written_to_is_answered_like_everybody(
    visitor, new_visitor, server, demo, make
):
    await make(server)
    known = await at_reset_code(visitor, demo)
    other = new_visitor()
    unknown = await at_reset_code(other, demo, "nobody")
    answers = [await visitor.submit(known, code="1"), await other.submit(unknown, code="1")]
    mailed = [one async for one in server.store.scan(OUTBOX)]

    assert text_of(known) == text_of(unknown)
    assert ON_ITS_WAY in text_of(known)
    assert [answer.status for answer in answers] == [400, 400]
    assert text_of(answers[0]) == text_of(answers[1])
    assert not mailed


async def test_known_and_unknown_names_cost_the_store_the_same_reads_and_nearly_the_same_writes(
    visitor, new_visitor, server, demo
):
    await give_address(server)
    before = await count(server.store)
    await at_reset_code(visitor, demo)
    between = await count(server.store)
    await at_reset_code(new_visitor(), demo, "nobody")
    after = await count(server.store)
    written = [
        {name: number - earlier.get(name, 0) for name, number in later.items()}
        for earlier, later in ((before, between), (between, after))
    ]

    assert written[0].pop("outbox") == 1
    assert written[0]["verifications"] == written[1]["verifications"] == 1


@pytest.mark.parametrize("typed", ["", "   ", "x" * 201, "a\0b"])
async def test_what_is_no_login_name_is_refused_and_writes_nothing(visitor, server, demo, typed):
    page = await at_reset(visitor, demo)
    before = await everything(server.store)
    answer = await visitor.submit(page, loginName=typed)

    assert (answer.status, answer.name) == (400, "reset")
    assert leads_on(answer)
    assert await everything(server.store) == before


@pytest.mark.parametrize("typed", ["", "00000000", "٠٠٠٠٠٠٠٠", "x" * 1000, "\0", "🂡"])
async def test_a_wrong_code_is_refused(visitor, server, demo, typed):
    await give_address(server)
    page = await at_reset_code(visitor, demo)
    before = await everything(server.store)
    answer = await visitor.submit(page, code=typed)

    assert (answer.status, answer.name) == (400, "reset-code")
    assert WRONG in text_of(answer)
    assert await everything(server.store) == before


@pytest.mark.parametrize("name", ["demo", "nobody"])
async def test_after_five_wrong_codes_the_right_one_counts_no_more(visitor, server, demo, name):
    await give_address(server)
    page = await at_reset_code(visitor, demo, name)
    for _ in range(5):
        await visitor.submit(page, code="0")
    code = (await newest(visitor))["code"] if name == "demo" else "0"
    answer = await visitor.submit(page, code=code)

    assert (answer.status, answer.name) == (400, "reset-code")
    assert "There were too many failed attempts." in text_of(answer)


@pytest.mark.parametrize("name", ["demo", "nobody"])
async def test_an_expired_code_brings_another_mail(visitor, server, demo, name):
    await give_address(server)
    page = await at_reset_code(visitor, demo, name)
    sent = [mail["code"] for mail in await mails(visitor, ADDRESS)]
    server.clock.advance(601)
    late = await visitor.submit(page, code=sent[0] if sent else "1")

    assert (late.status, late.name) == (400, "reset-code")
    assert "That code has expired." in text_of(late)
    assert len(await mails(visitor, ADDRESS)) == 2 * len(sent)
    if sent:
        assert "code" in (await chosen(visitor, late)).answer


async def test_another_mail_can_be_asked_for_after_a_minute(visitor, server, demo):
    await give_address(server)
    page = await at_reset_code(visitor, demo)
    first = (await newest(visitor))["code"]
    early = await visitor.submit(page, decision="resend")
    server.clock.advance(61)
    again = await visitor.submit(page, decision="resend")
    old = await visitor.submit(again, code=first)

    assert (early.status, early.name) == (429, "reset-code")
    assert int(early.headers["Retry-After"]) == 60
    assert "We've sent a new code." in text_of(again)
    assert old.status == 400
    assert "code" in (await chosen(visitor, old)).answer


async def test_the_same_form_sent_again_brings_no_second_mail(visitor, server, demo):
    await give_address(server)
    asked = await at_reset(visitor, demo)
    for _ in range(3):
        page = await visitor.submit(asked, loginName="demo")

    assert page.name == "reset-code"
    assert len(await mails(visitor, ADDRESS)) == 1


@pytest.mark.full
@pytest.mark.parametrize("name", ["demo", "nobody"])
async def test_too_many_mails_to_one_name_are_refused_known_or_not(visitor, server, demo, name):
    await give_address(server)
    for _ in range(mail_limits.MAX_TO_MAILBOX):
        await at_reset_code(visitor, demo, name)
    page = await at_reset(visitor, demo, name)
    before = await everything(server.store)
    answer = await visitor.submit(page, loginName=name)

    assert (answer.status, answer.name) == (429, "reset")
    assert int(answer.headers["Retry-After"]) > 0
    assert leads_on(answer)
    assert await everything(server.store) == before


@pytest.mark.full
async def test_a_mailbox_gets_no_more_mails_however_its_owner_is_called(
    visitor, server, demo, monkeypatch
):
    monkeypatch.setattr(mail_limits, "ALL_NETWORKS_FACTOR", 1)
    await give_address(server)
    for _ in range(mail_limits.MAX_TO_MAILBOX):
        await at_reset_code(visitor, demo)
    page = await at_reset_code(visitor, demo, ADDRESS)

    assert ON_ITS_WAY in text_of(page)
    assert len(await mails(visitor, ADDRESS)) == mail_limits.MAX_TO_MAILBOX


async def test_a_code_of_one_sign_in_does_not_count_in_another(visitor, new_visitor, server, demo):
    await give_address(server)
    page = await at_reset_code(visitor, demo)
    code = (await newest(visitor))["code"]
    stranger = new_visitor()
    theirs = await at_reset_code(stranger, demo)
    refused = await stranger.submit(theirs, code=code)

    assert refused.status == 400
    assert (await visitor.submit(page, code=code)).name == "change-password"


@pytest.mark.full
async def test_a_code_and_a_new_password_that_are_sent_several_times_at_once_count_once(
    visitor, server, demo
):
    await give_address(server)
    page = await at_reset_code(visitor, demo)
    code = (await newest(visitor))["code"]
    answers = await asyncio.gather(*[visitor.submit(page, code=code) for _ in range(4)])
    choice = await visitor.open(page.url)
    done = await asyncio.gather(
        *[visitor.send(choice, newPassword=NEW_PASSWORD) for _ in range(4)]
    )
    waiting = [one async for one in server.store.scan(VERIFICATIONS)]
    types = [event.type async for event in server.store.scan(EVENTS)]

    assert {answer.name for answer in answers} <= {"change-password", "reset-code"}
    assert {answer.status for answer in done} <= {303, 403}
    assert types.count("user.password_changed") == 1
    assert not waiting


async def test_a_form_that_finds_its_code_spent_by_its_twin_takes_nothing_back(
    visitor, server, demo, monkeypatch
):
    await give_address(server)
    page = await at_reset_code(visitor, demo)
    code = (await newest(visitor))["code"]
    find, twins = password_reset.find, []

    async def late(service, flow):
        """Looks for the code when the other form was answered."""
        monkeypatch.setattr(password_reset, "find", find)
        twins.append(await visitor.submit(page, code=code))
        return await find(service, flow)

    monkeypatch.setattr(password_reset, "find", late)
    answer = await visitor.submit(page, code=code)

    assert [answer.name, twins[0].name] == ["change-password"] * 2


async def test_a_code_counts_no_more_after_the_password_has_changed(visitor, server, demo):
    user_id = await give_address(server)
    page = await at_reset_code(visitor, demo)
    await server.store.commit(Update(USERS, user_id, set={"stamp": "another"}))
    answer = await visitor.submit(page, code=(await newest(visitor))["code"])

    assert (answer.status, WRONG in text_of(answer)) == (400, True)


async def test_who_is_deactivated_after_the_code_gets_no_further(visitor, server, demo):
    user_id = await give_address(server)
    page = await at_reset_code(visitor, demo)
    page = await visitor.submit(page, code=(await newest(visitor))["code"])
    await server.store.commit(Update(USERS, user_id, set={"state": "inactive"}))
    answer = await visitor.submit(page, newPassword=NEW_PASSWORD)

    assert "code" not in answer.answer
    assert leads_on(answer)


async def test_who_remembers_signs_in_and_the_reset_is_forgotten(visitor, server, demo):
    await give_address(server)
    page = await at_reset_code(visitor, demo)
    page = await visitor.open(link_to(page, "/ui/login/password"))
    wrong = await visitor.submit(page, password="wrong")

    assert (page.name, wrong.status, wrong.name) == ("password", 400, "password")
    assert "code" in (await visitor.submit(wrong, password=server.user[1])).answer


async def test_the_sign_ins_address_leads_back_to_the_code_until_another_name_is_typed(
    visitor, server, demo
):
    page = await at_reset_code(visitor, demo, "nobody")
    back = await visitor.open(page.url.replace("/reset-code", ""))
    name = await visitor.open(page.url.replace("/reset-code", "/name"))
    other = await visitor.submit(name, loginName="demo")

    assert (back.name, other.name) == ("reset-code", "password")


async def test_a_reset_can_be_cancelled(visitor, server, demo):
    page = await at_reset_code(visitor, demo)

    assert (await cancel(visitor, page)).answer["error"] == "access_denied"


async def test_steps_out_of_order_lead_to_the_one_that_is_due(visitor, server, demo):
    page = await at_password(visitor, demo, "demo")
    for path in ("/reset-code", "/change-password"):
        url = page.url.replace("/password", path)
        shown, sent = await visitor.open(url), await visitor.post(url, page.hidden)

        assert shown.name == "password"
        assert (await visitor.follow(sent)).name == "password"


async def test_a_person_without_a_password_gets_their_first_one_so(visitor, server, demo):
    user_id = await give_address(server, is_verified=False, password=None)
    done = await chosen(visitor, await at_reset_code(visitor, demo))
    user = await server.store.get(USERS, user_id)

    assert "code" in done.answer
    assert user.email.is_verified
    assert user.email_key == ADDRESS


async def test_without_a_way_to_send_mail_the_page_says_whom_to_ask(
    visitor, server, demo, monkeypatch
):
    page = await at_reset(visitor, demo)
    monkeypatch.setattr(messages, "is_readable", lambda config: False)
    before = await everything(server.store)
    shown, sent = await visitor.open(page.url), await visitor.submit(page, loginName="demo")

    assert [(one.status, one.name) for one in (shown, sent)] == [(200, "reset"), (400, "reset")]
    assert "This service can't send email yet" in text_of(shown)
    assert leads_on(shown)
    assert leads_on(sent)
    assert await everything(server.store) == before


async def test_an_organization_can_keep_its_people_from_it(visitor, server, demo):
    offered = await at_password(visitor, demo, "demo")
    reset = link_to(offered, "/ui/login/reset")
    owner = await instance_owner(server, visitor)
    await owner.request("PUT", "/admin/v1/policies/login", {"hidePasswordReset": True})
    page = await visitor.open(offered.url)
    shown = await visitor.open(reset)

    assert "/ui/login/reset" not in page.text
    assert shown.name == "reset"
    assert "Ask an administrator or your help desk for a new password" in text_of(shown)
    assert leads_on(shown)
