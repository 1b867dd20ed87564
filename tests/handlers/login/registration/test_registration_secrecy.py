"""Nobody learns from the pages which names and addresses are taken, by answer, record or work."""

import re

import pytest

from idp.identity.guesses import mail_limits
from idp.records import OUTBOX, REGISTRATIONS, USERS, Email
from storage import Update
from tests.support.sign_in.registering import (
    ADDRESS,
    FIELDS,
    PASSWORD,
    at_code,
    at_register,
    code_for,
    mails,
    newest,
    registered,
    users,
)
from tests.support.sign_in.steps import Seen, text_of
from tests.support.store.stored import count

TAKEN = "taken@example.org"  # the user Taken, whose address it is
FREE = "freed@example.org"  # as long as the other


@pytest.fixture
def known(server, io_loop):
    """A user whose name and proven address are both taken."""
    return io_loop.run_sync(lambda: add_known(server))


async def add_known(server, **changes):
    await server.copy_user("taken")
    page = await server.store.find(USERS, {"login_key": "taken"})
    values = {"email": Email(address=TAKEN, is_verified=True), "email_key": TAKEN}
    await server.store.commit(Update(USERS, page.records[0].id, set=values | changes))
    return page.records[0]


def bare(page, typed):
    """The whole answer, without what differs between any two of them."""
    headers = {
        name: value
        for name, value in page.headers.items()
        if name not in ("date", "x-request-id", "set-cookie")
    }
    text = "\n".join([str(page.status), repr(sorted(headers.items())), page.text])
    flows = re.findall(r"flow=([\w.-]+)", f"{page.url} {page.location} {page.text}")
    for value in flows:
        text = text.replace(value, f"FLOW of {len(value)}")
    text = text.replace(page.hidden.get("token") or "no token", "TOKEN")
    return re.sub(re.escape(typed), "TYPED", text, flags=re.IGNORECASE)


async def answers(visitor, demo, server, typed, **fields):
    """Every answer that a registration gets without its mail being read."""
    page = await at_register(visitor, demo)
    posted = await visitor.send(page, **(FIELDS | fields))
    shown = await visitor.follow(posted)
    wrong = await visitor.submit(shown, code="00000000")
    early = await visitor.submit(shown, decision="resend")
    server.clock.advance(61)
    resent = await visitor.submit(shown, decision="resend")
    server.clock.advance(601)
    late = await visitor.submit(shown, code="00000000")
    tries = [await visitor.submit(shown, code="00000000") for _ in range(6)]
    back = await visitor.open(page.url)
    server.clock.advance(3600)
    every = [posted, shown, wrong, early, resent, late, *tries, back]
    assert [each.status for each in every] == [303, 200, 400, 429, 200, *[400] * 7, 200]
    return [bare(each, typed) for each in every]


@pytest.mark.full
@pytest.mark.parametrize(
    ("taken", "free"),
    [(TAKEN, FREE), ("Taken@Example.ORG", "Freed@Example.ORG"), ("taken@localhost", FREE[:15])],
)
@pytest.mark.parametrize("name", ["", "other"])
async def test_a_taken_address_is_answered_as_a_free_one(
    new_visitor, demo, server, known, taken, free, name
):
    one = await answers(new_visitor(), demo, server, taken, email=taken, userName=name)
    other = await answers(new_visitor(), demo, server, free, email=free, userName=name)

    assert one == other


@pytest.mark.full
@pytest.mark.parametrize(
    ("taken", "free"), [("taken", "freed"), ("TAKEN", "FREED"), ("\uff54aken", "\uff46aken")]
)
async def test_a_taken_user_name_is_answered_as_a_free_one(
    new_visitor, demo, server, known, taken, free
):
    one = await answers(new_visitor(), demo, server, taken, userName=taken)
    other = await answers(new_visitor(), demo, server, free, userName=free)

    assert one == other


async def test_taken_and_free_leave_the_same_records_behind(new_visitor, demo, server, known):
    left = []
    for email in (TAKEN, FREE):
        before = await count(server.store)
        await at_code(new_visitor(), demo, email=email)
        after = await count(server.store)
        left.append({name: after[name] - before.get(name, 0) for name in after})

    assert left[0] == left[1]
    assert left[0]["registrations"] == left[0]["outbox"] == 1


async def test_taken_and_free_cost_the_same_work(new_visitor, demo, server, known, monkeypatch):
    work = []

    def counted(owner, name):
        method = getattr(owner, name)

        async def wrapper(*values, **options):
            work.append((name, *[getattr(value, "name", None) for value in values[:1]]))
            return await method(*values, **options)

        monkeypatch.setattr(owner, name, wrapper)

    for name in ("get", "get_many", "find", "commit", "increment"):
        counted(server.store, name)
    counted(server.service.hasher, "hash")
    seen = []
    for email in (TAKEN, FREE):
        visitor = new_visitor()
        page = await at_register(visitor, demo)
        work.clear()
        await visitor.send(page, **(FIELDS | {"email": email}))
        seen.append(list(work))

    assert seen[0] == seen[1]
    assert ("hash", None) in seen[0]


async def test_only_the_mailbox_learns_of_the_account(visitor, demo, server, known):
    await at_code(visitor, demo, email=TAKEN)
    (mail,) = await mails(visitor)

    assert (mail["kind"], mail["to"]) == ("account_exists", TAKEN)
    assert "code" not in mail
    assert "You already have one" in mail["text"]
    page = await visitor.open(mail["url"])
    assert page.name == "login-name"
    page = await visitor.submit(page, loginName=TAKEN)
    answer = await visitor.submit(page, password=server.user[1])
    assert "code" in answer.answer


@pytest.mark.parametrize(
    ("email", "changes"),
    [
        (TAKEN, {"state": "inactive"}),
        (TAKEN, {"state": "locked"}),
        ("TAKEN@EXAMPLE.ORG", {}),
        (TAKEN, {"email_key": None, "login_key": TAKEN, "user_name": TAKEN}),
        ("taken@localhost", {}),
    ],
)
async def test_an_address_is_taken_by_a_sign_in_with_it(
    visitor, demo, server, io_loop, email, changes
):
    await add_known(server, **changes)
    await at_code(visitor, demo, email=email, userName="somebody")
    (mail,) = await mails(visitor)

    assert mail["kind"] == "account_exists"


async def test_an_address_that_no_user_has_verified_is_free(visitor, demo, server):
    await add_known(server, email=Email(address=TAKEN), email_key=None)
    answer = await registered(visitor, demo, email=TAKEN)

    assert "code" in answer.answer


async def test_no_code_is_right_where_the_address_is_taken(visitor, demo, server, known):
    page = await at_code(visitor, demo, email=TAKEN)
    refused = [await visitor.submit(page, code=code) for code in ("00000000", "", "12345678")]

    assert {answer.status for answer in refused} == {400}
    assert await users(server) == {"taken"}


async def test_a_taken_name_is_reported_to_the_owner_of_the_verified_mailbox(
    visitor, new_visitor, demo, server, known
):
    page = await at_code(visitor, demo, userName="Taken")
    page = await visitor.submit(page, code=await code_for(visitor))

    assert (page.status, page.name, list(page.inputs)) == (200, "user-name", ["userName"])
    assert "Choose another username. This one is taken." in text_of(page)
    assert page.inputs["userName"] == "Taken"
    assert await users(server) == {"taken"}
    again = await visitor.submit(page, userName="demo")
    assert (again.status, again.name) == (400, "user-name")
    answer = await visitor.submit(again, userName=" nora ")
    assert "code" in answer.answer
    assert await users(server) == {"taken", "nora"}
    page = await new_visitor().sign_in(demo.authorize_url(), "nora", PASSWORD)
    assert "code" in page.answer


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, "no\u202era", "no\0ra"])
async def test_another_name_has_to_be_one(visitor, demo, server, known, name):
    page = await at_code(visitor, demo, userName="taken")
    page = await visitor.submit(page, code=await code_for(visitor))
    refused = await visitor.submit(page, userName=name)

    assert (refused.status, refused.name) == (400, "user-name")
    (field,) = [e for e in Seen(refused).all("input") if e.get("name") == "userName"]
    assert field["aria-invalid"] == "true"
    assert await users(server) == {"taken"}


async def test_names_can_not_be_tried_out_without_end(visitor, demo, server, known):
    page = await at_code(visitor, demo, userName="taken")
    page = await visitor.submit(page, code=await code_for(visitor))
    statuses = [(await visitor.submit(page, userName="demo")).status for _ in range(10)]
    stopped = await visitor.submit(page, userName="nora")

    assert statuses == [400] * 10
    assert (stopped.status, stopped.name) == (429, "user-name")
    assert int(stopped.headers["Retry-After"]) > 0
    assert await users(server) == {"taken"}


async def test_without_verification_no_user_is_asked_for_another_name(
    visitor, demo, server, known
):
    page = await at_code(visitor, demo, userName="taken")
    address = page.url.replace("/verify-email", "/user-name")
    shown = await visitor.open(address)
    posted = await visitor.post(address, {**page.hidden, "userName": "nora"})

    assert shown.name == "verify-email"
    assert posted.location.startswith(f"{server.issuer}/ui/login/verify-email?")
    assert await users(server) == {"taken"}


async def test_an_address_that_was_taken_meanwhile_is_reported_to_its_owner(visitor, demo, server):
    page = await at_code(visitor, demo, email=TAKEN, userName="nora")
    code = await code_for(visitor, TAKEN)
    await add_known(server)
    late = await visitor.submit(page, code=code)

    assert (late.status, late.name) == (400, "verify-email")
    assert "An account with this email already exists. Sign in with it." in text_of(late)
    assert [link for link in Seen(late).links if "/ui/login/name" in link]
    assert await users(server) == {"taken"}


@pytest.mark.full
async def test_mails_to_a_mailbox_end_after_five_an_hour(new_visitor, demo, server, known):
    for email in (TAKEN, FREE):
        for _ in range(5):
            await at_code(new_visitor(), demo, email=email)
        page = await at_register(visitor := new_visitor(), demo)
        stopped = await visitor.submit(page, **(FIELDS | {"email": email.upper()}))

        assert (stopped.status, stopped.name) == (429, "register")
        assert int(stopped.headers["Retry-After"]) == 3600
        assert stopped.inputs["givenName"] == "Nora"
    assert len([each async for each in server.store.scan(OUTBOX)]) == 10
    server.clock.advance(3600)
    await at_code(new_visitor(), demo, email=FREE)


class TestSeveralAddresses:
    @pytest.fixture
    def settings(self):
        return {"trusted_proxies": ("127.0.0.1",)}

    @pytest.mark.full
    @pytest.mark.parametrize("email", [TAKEN, FREE])
    async def test_a_stranger_does_not_use_up_an_owners_mails_but_many_do(
        self, new_visitor, demo, server, known, email
    ):
        statuses = []
        for n in range(5):
            visitor = new_visitor(headers={"X-Forwarded-For": f"192.0.2.{n}"})
            for _ in range(5):
                page = await at_register(visitor, demo)
                answer = await visitor.send(page, **(FIELDS | {"email": email}))
                statuses.append(answer.status)

        assert statuses == [303] * 20 + [429] * 5
        assert len([each async for each in server.store.scan(OUTBOX)]) == 20


class TestOneAddress:
    async def test_mails_that_one_address_asks_for_end_too(
        self, new_visitor, demo, server, monkeypatch
    ):
        monkeypatch.setattr(mail_limits, "MAX_FROM_NETWORK", 3)
        for n in range(3):
            await at_code(new_visitor(), demo, email=f"nora{n}@example.org")
        page = await at_register(visitor := new_visitor(), demo)
        stopped = await visitor.submit(page, **FIELDS)

        assert (stopped.status, stopped.name) == (429, "register")
        assert len([each async for each in server.store.scan(REGISTRATIONS)]) == 3


async def test_the_log_has_neither_code_nor_address_nor_password(
    visitor, demo, server, known, caplog, capfd
):
    page = await at_code(visitor, demo, userName="taken")
    code = (await newest(visitor))["code"]
    await visitor.submit(page, code="99999999")
    await visitor.submit(page, code=code)
    logged = caplog.text + "".join(capfd.readouterr())

    for secret in (code, ADDRESS, PASSWORD, "99999999"):
        assert secret not in logged
