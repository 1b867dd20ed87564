"""/ui/verify-email: the owner of a new account confirms its address by the mail's link."""

import pytest
from msgspec import structs

from idp.identity.users import email_verification
from idp.records import USERS, Email
from storage import Insert
from tests.support.management.callers import new_organization
from tests.support.sign_in.registering import mails
from tests.support.sign_in.steps import Seen, leads_on, shape, text_of
from tests.support.store.stored import everything

REFUSED = "This one is wrong, already used or expired."


@pytest.fixture
def code(server, io_loop):
    """The code of a user with an address that nobody has proven."""
    return io_loop.run_sync(lambda: made(server))


async def made(server):
    page = await server.store.find(USERS, {"login_key": "demo"})
    changes = {"id": "user-1", "user_name": "nora", "login_key": "nora", "email_key": None}
    user = structs.replace(page.records[0], **changes, email=Email(address="nora@example.org"))
    begun = await email_verification.begin_email(server.service, user, send=True)
    await server.store.commit(Insert(USERS, user), *begun.writes)
    return begun.code


async def is_verified(server):
    return (await server.store.get(USERS, "user-1")).email.is_verified


async def test_the_link_shows_a_page_whose_form_confirms_the_address(visitor, server, code):
    (mail,) = await mails(visitor)
    page = await visitor.open(mail["url"])
    assert shape(page) == ("verify-email", ["code"], [])
    assert page.inputs["code"] == code
    assert not await is_verified(server)
    done = await visitor.submit(page, code=page.inputs["code"])

    assert (done.status, done.name) == (200, "email-verified")
    assert leads_on(done)
    assert await is_verified(server)


@pytest.mark.parametrize(
    "query", ["?user=user-1", "?user=unknown", "", "?user=%00", "?user=a&user=b", "?code=1&code=2"]
)
async def test_a_wrong_code_is_refused_alike_for_whomever(visitor, server, code, query):
    before = await everything(server.store)
    answer = await visitor.post(f"/ui/verify-email{query}", {"code": "0"})

    assert answer.status == 400
    assert await everything(server.store) == before
    if "&" not in query:
        assert text_of(answer).count(REFUSED) == 1
        assert answer.name == "verify-email"


async def test_a_code_that_was_used_or_has_expired_is_refused(visitor, server, code):
    address = "/ui/verify-email?user=user-1"
    await visitor.post(address, {"code": code})
    again = await visitor.post(address, {"code": code})

    assert (again.status, REFUSED in text_of(again)) == (400, True)
    assert await is_verified(server)


async def test_an_address_that_another_organizations_person_has_stays_theirs(
    visitor, server, code
):
    there = await new_organization(server, "there.example")
    theirs = structs.replace(
        await server.store.get(USERS, "user-1"),
        id="theirs",
        login_key="theirs",
        user_name="theirs",
        org_id=there.id,
        email=Email(address="nora@example.org", is_verified=True),
        email_key="nora@example.org",
    )
    await server.store.commit(Insert(USERS, theirs))
    before = await everything(server.store)
    answer = await visitor.post("/ui/verify-email?user=user-1", {"code": code})

    assert (answer.status, answer.name) == (400, "verify-email")
    assert "Another account already uses this email." in text_of(answer)
    assert await everything(server.store) == before


async def test_after_five_wrong_codes_the_right_one_is_refused(visitor, server, code):
    address = "/ui/verify-email?user=user-1"
    for _ in range(5):
        await visitor.post(address, {"code": "0"})
    answer = await visitor.post(address, {"code": code})

    assert answer.status == 400
    assert not await is_verified(server)


@pytest.mark.parametrize(
    "headers", [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}]
)
async def test_another_sites_form_does_nothing(visitor, server, code, headers):
    answer = await visitor.post("/ui/verify-email?user=user-1", {"code": code}, headers=headers)

    assert answer.status == 403
    assert not await is_verified(server)


@pytest.mark.parametrize("typed", ['"><svg onload=alert(1)>', "{{7*7}}", "\0"])
async def test_what_the_link_brings_never_becomes_markup(visitor, code, typed):
    page = await visitor.http.get(f"{visitor.base}/ui/verify-email", params={"code": typed})

    assert "<svg onload" not in page.text
    assert page.status_code == 200


async def test_the_page_speaks_the_readers_language(visitor, code):
    page = await visitor.get("/ui/verify-email?user=user-1&lang=de")

    assert "E-Mail-Adresse bestätigen" in text_of(page)
    assert "?user=user-1&lang=fr" in [link.get("href") for link in Seen(page).all("a")]
