"""Guesses at codes that verify an e-mail address, which anybody can have sent anew."""

from __future__ import annotations

import pytest

from idp import changes
from idp.identity.factors.mail_codes import MailCodeRefused
from idp.identity.guesses import mailed_codes
from idp.identity.users import email_verification
from idp.records import USERS
from tests.support.sign_in.registering import ADDRESS, at_code, code_for
from tests.support.sign_in.resetting import give_address
from tests.support.sign_in.steps import text_of

CLOSED = "Try again tomorrow. Too many wrong codes were entered for this email."


async def verified(service, user_id, code):
    await changes.run(service, email_verification.verify_email, user_id, code, checked_codes=set())


async def guess(server, times, address=ADDRESS):
    for n in range(times):
        with pytest.raises(MailCodeRefused):
            await mailed_codes.check_contact(server.service, None, f"issue-{n}", address, "0")


@pytest.mark.promise("guessing: mailed codes")
async def test_a_registration_accepts_no_code_after_fifty_wrong_ones_for_its_address(
    server, visitor, demo
):
    page = await at_code(visitor, demo)
    await guess(server, mailed_codes.MAX_CODES)
    page = await visitor.submit(page, code=await code_for(visitor))

    assert (page.status, page.name) == (400, "verify-email")
    assert CLOSED in text_of(page)


async def test_a_right_code_ends_the_count_of_an_address(server, visitor, demo):
    await guess(server, mailed_codes.MAX_CODES - 1)
    page = await at_code(visitor, demo)
    page = await visitor.submit(page, code=await code_for(visitor))
    assert "code" in page.answer

    await guess(server, mailed_codes.MAX_CODES)


@pytest.mark.promise("guessing: mailed codes")
async def test_two_accounts_share_the_count_of_one_address_for_a_day(server):
    await guess(server, mailed_codes.MAX_CODES)
    user_id = await give_address(server, address=ADDRESS, is_verified=False)
    code = await new_code(server, user_id)
    with pytest.raises(MailCodeRefused, match="try again tomorrow") as refused:
        await verified(server.service, user_id, code)
    assert refused.value.error_code == "code.closed"

    server.clock.advance(24 * 3600)
    code = await new_code(server, user_id)
    await verified(server.service, user_id, code)
    assert (await server.store.get(USERS, user_id)).email.is_verified


async def new_code(server, user_id):
    user = await server.store.get(USERS, user_id)
    begun = await email_verification.begin_email(server.service, user, send=False)
    await server.store.commit(*begun.writes)
    return begun.code
