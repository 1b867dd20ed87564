"""Proving an address by a code: what counts, what is refused, and what it writes."""

import asyncio

import pytest
from msgspec import structs

from idp import changes
from idp.identity.factors.mail_codes import MailCodeRefused
from idp.identity.users import email_verification
from idp.identity.users.email_verification import UrlTemplateRefused
from idp.mail import messages
from idp.records import EVENTS, OUTBOX, USERS, VERIFICATIONS, Email
from storage import Insert
from tests.support.store.stored import count, everything, only

ADDRESS = "nora@example.com"
TEMPLATE = "https://app.example.com/verify?u={{.UserID}}&o={{ .OrgID }}&c={{.Code}}#{{.Code}}"


async def verified(service, user_id, code):
    await changes.run(service, email_verification.verify_email, user_id, code, checked_codes=set())


@pytest.fixture
def user(server, io_loop):
    """A user with an address that nobody has proven."""
    return io_loop.run_sync(lambda: new_user(server))


async def new_user(server):
    found = await server.store.find(USERS, {"login_key": "demo"})
    user = structs.replace(
        found.records[0],
        id="user-1",
        user_name="nora",
        login_key="nora",
        email=Email(address=ADDRESS),
        email_key=None,
    )
    await server.store.commit(Insert(USERS, user))
    return user


async def begin(server, user, **options):
    begun = await email_verification.begin_email(server.service, user, **{"send": True} | options)
    await server.store.commit(*begun.writes)
    return begun.code


async def refusal(server, user_id, code):
    """The error code of the refusal, which must not have changed anything but counters."""
    before = await everything(server.store)
    with pytest.raises(MailCodeRefused) as refused:
        await verified(server.service, user_id, code)
    assert await everything(server.store) == before
    return refused.value.error_code


async def test_the_right_code_marks_the_address_as_verified_with_one_event(server, user):
    code = await begin(server, user)
    events = (await count(server.store))["events"]
    await verified(server.service, user.id, code)

    changed = await server.store.get(USERS, user.id)
    assert (changed.email.is_verified, changed.email_key) == (True, ADDRESS)
    assert changed.sequence == user.sequence + 1
    counted = await count(server.store)
    assert (counted["events"], "verifications" in counted) == (events + 1, False)
    (event,) = [e async for e in server.store.scan(EVENTS) if e.type == "user.email_verified"]
    assert (event.record_id, event.actor, event.sequence) == (user.id, user.id, changed.sequence)


async def test_a_code_counts_once(server, user):
    code = await begin(server, user)
    await verified(server.service, user.id, code)

    assert await refusal(server, user.id, code) == "code.expired"


@pytest.mark.parametrize("form", ["{0} {1}", " {0}-{1}\n", "{0}\u2013{1}\u200f", "\u2066{0}{1}"])
async def test_a_code_is_read_in_groups(server, user, form):
    code = await begin(server, user)

    await verified(server.service, user.id, form.format(code[:4], code[4:]))

    assert (await server.store.get(USERS, user.id)).email.is_verified


async def test_a_code_is_read_in_the_digits_of_any_keyboard(server, user):
    code = await begin(server, user)
    arabic = code.translate({ord("0") + n: 0x660 + n for n in range(10)})
    await verified(server.service, user.id, arabic)

    assert (await server.store.get(USERS, user.id)).email.is_verified


@pytest.mark.parametrize(
    "typed", ["", " ", "0", "wrong", "١", "\0", "\ud800", "²" * 8, "9" * 10**6]
)
async def test_what_is_no_code_is_a_wrong_one(server, user, typed):
    await begin(server, user)

    assert await refusal(server, user.id, typed) == "code.wrong"


async def test_the_sixth_try_is_refused_though_it_be_right(server, user):
    code = await begin(server, user)
    error_codes = [await refusal(server, user.id, "wrong") for _ in range(5)]

    assert error_codes == ["code.wrong"] * 5
    assert await refusal(server, user.id, code) == "code.tries"


async def test_guesses_made_at_once_cost_what_they_would_one_after_another(server, user):
    code = await begin(server, user)
    guesses = [f"{n:08}" for n in range(31)] + [code]
    answers = await asyncio.gather(
        *[verified(server.service, user.id, each) for each in guesses],
        return_exceptions=True,
    )

    error_codes = [answer.error_code for answer in answers]
    assert sorted(error_codes) == ["code.tries"] * 27 + ["code.wrong"] * 5
    assert not (await server.store.get(USERS, user.id)).email.is_verified


async def test_of_the_same_right_code_sent_twice_at_once_one_counts(server, user):
    code = await begin(server, user)
    answers = await asyncio.gather(
        *[verified(server.service, user.id, code) for _ in range(4)],
        return_exceptions=True,
    )

    assert [answer for answer in answers if answer is None] == [None]
    assert {answer.error_code for answer in answers if answer} == {"code.expired"}


async def test_a_code_expires(server, user):
    code = await begin(server, user)
    server.clock.advance(email_verification.HOURS * 3600)

    assert await refusal(server, user.id, code) == "code.expired"


async def test_the_newest_code_alone_counts(server, user):
    first = await begin(server, user)
    server.clock.advance(1)
    second = await begin(server, user)

    assert await refusal(server, user.id, first) == "code.wrong"
    await verified(server.service, user.id, second)


async def test_a_code_is_of_one_address_and_of_one_user(server, user):
    code = await begin(server, user)
    other = structs.replace(user, id="user-2", login_key="other")
    moved = structs.replace(user, id="user-3", login_key="moved", email=Email(address="x@y.org"))
    await server.store.commit(Insert(USERS, other), Insert(USERS, moved))
    moved = structs.replace(moved, email=user.email)
    begun = await email_verification.begin_email(server.service, moved, send=False)
    await server.store.commit(*begun.writes)

    assert await refusal(server, other.id, code) == "code.expired"
    assert await refusal(server, moved.id, code) == "code.wrong"


async def test_the_mail_brings_the_code_and_a_link_in_the_users_language(server, user):
    user = structs.replace(user, profile=structs.replace(user.profile, preferred_language="de"))
    code = await begin(server, user)
    (held,) = await messages.held(server.service)

    letter = held.mail_message
    assert (held.kind, held.user_id, letter.to, letter.code) == (
        "verify_email",
        user.id,
        ADDRESS,
        code,
    )
    assert letter.url == f"{server.issuer}/ui/verify-email?user=user-1&code={code}"
    assert code in letter.text
    assert code in letter.html
    assert letter.url in letter.text
    assert '<html lang="de" dir="ltr">' in letter.html
    assert user.profile.display_name not in letter.text


async def test_without_sending_there_is_a_code_and_no_mail(server, user):
    code = await begin(server, user, send=False)

    assert [each async for each in server.store.scan(OUTBOX)] == []
    await verified(server.service, user.id, code)


async def test_nothing_that_can_be_used_is_stored_in_the_clear(server, user):
    code = await begin(server, user)
    stored = repr([await only(server.store, OUTBOX), await only(server.store, VERIFICATIONS)])

    assert code not in stored
    assert ADDRESS not in stored


async def test_a_template_decides_where_the_mail_leads(server, user):
    user = structs.replace(user, id="a&b=c d")
    code = await begin(server, user, url_template=TEMPLATE)
    (held,) = await messages.held(server.service)

    assert held.mail_message.url == (
        f"https://app.example.com/verify?u=a%26b%3Dc%20d&o={user.org_id}&c={code}#{code}"
    )


@pytest.mark.parametrize(
    "template",
    [
        "",
        "/verify",
        "//evil.example/",
        "http://app.example.com/",
        "javascript:alert('{{.Code}}')",
        "data:text/html,{{.Code}}",
        "https://{{.Code}}.example.com/",
        "https://app.example.com:{{.Code}}/",
        "https://{{.UserID}}@example.com/",
        "https://user:password@example.com/",
        "https://example.com:99999/",
        "https://[example.com/",
        "https://example.com/{{.Password}}",
        "https://example.com/{{.Code",
        "https://example.com/{{{.Code}}}",
        "https://example.com/{{if .Code}}",
        "https://example.com/ x",
        "https://example.com/\r\nBcc: x@y.org",
        "https://example.com/\0",
        "https://example.com\\@evil.example/",
        'https://example.com/"><b>',
    ],
)
async def test_a_template_that_could_lead_astray_is_refused(server, user, template):
    with pytest.raises(UrlTemplateRefused):
        await email_verification.begin_email(
            server.service, user, send=True, url_template=template
        )
