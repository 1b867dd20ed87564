"""In which organization somebody opens an account: as the request says, or the person chooses."""

from __future__ import annotations

import pytest

from idp.records import DOMAINS, ORGANIZATIONS, new_domain
from storage import Insert, Update
from tests.support.protocol.claiming import IAM, add_organization, organization_of
from tests.support.sign_in.registering import FIELDS, code_for, found
from tests.support.sign_in.steps import text_of
from tests.support.store import stored

HINT = "nora@acme.example"


@pytest.fixture
def acme(io_loop, server):
    """Another organization, whose domain is proven."""

    async def make():
        made = await add_organization(server, "Acme")
        now = server.clock.now()
        domain = new_domain(made.id, made.primary_domain, now, is_verified=True)
        await server.store.commit(Insert(DOMAINS, domain))
        return made

    return io_loop.run_sync(make)


async def asked(visitor, party, **changes):
    return await visitor.open(party.authorize_url(prompt="create", **changes))


async def opened(visitor, page):
    page = await visitor.submit(page, **FIELDS)
    return await visitor.submit(page, code=await code_for(visitor))


def choices(page):
    return [value for name, value in page.buttons if name == "organization"]


async def test_of_one_organization_nobody_is_asked(visitor, demo, acme):
    page = await asked(visitor, demo)
    assert page.name == "register"

    page = await visitor.open(page.url.replace("/register?", "/organization?"))

    assert page.name == "register"


async def test_where_the_hint_means_another_one_the_person_says(server, visitor, demo, acme):
    page = await asked(visitor, demo, login_hint=HINT)
    home = await organization_of(server)
    assert (page.status, page.name) == (200, "organization")
    assert choices(page) == [home.id, acme.id]
    assert "Acme acme.example" in text_of(page)

    page = await visitor.submit(page, organization=acme.id)
    page = await opened(visitor, page)

    assert "code" in page.answer
    assert (await found(server, FIELDS["email"])).org_id == acme.id


async def test_the_choice_can_be_made_again(server, visitor, demo, acme):
    page = await asked(visitor, demo, login_hint=HINT)
    home = await organization_of(server)
    await visitor.submit(page, organization=acme.id)

    page = await visitor.submit(await visitor.open(page.url), organization=home.id)
    await opened(visitor, page)

    assert (await found(server, FIELDS["email"])).org_id == home.id


@pytest.mark.parametrize("value", ["", "unknown", "\0", "x" * 300, "<svg>"])
async def test_no_other_organization_is_chosen(server, visitor, demo, acme, value):
    page = await asked(visitor, demo, login_hint=HINT)
    before = await stored.everything(server.store)

    page = await visitor.submit(page, organization=value)

    assert (page.status, page.name) == (200, "organization")
    assert await stored.everything(server.store) == before


async def test_none_that_the_request_has_nothing_to_do_with_can_be_chosen(
    server, visitor, demo, acme
):
    other = await add_organization(server, "Other")
    page = await asked(visitor, demo, login_hint=HINT)

    page = await visitor.submit(page, organization=other.id)

    assert (page.name, "Other" in page.text) == ("organization", False)


async def test_a_scope_leaves_no_choice(server, visitor, demo, acme):
    scope = f"openid {IAM}org:id:{acme.id}"

    page = await asked(visitor, demo, scope=scope, login_hint="nora@localhost")
    page = await opened(visitor, page)

    assert "code" in page.answer
    assert (await found(server, FIELDS["email"])).org_id == acme.id


async def test_where_accounts_are_not_opened_is_no_choice(server, visitor, demo, acme):
    await server.store.commit(Update(ORGANIZATIONS, acme.id, set={"state": "inactive"}))

    assert (await asked(visitor, demo, login_hint=HINT)).name == "register"


async def test_another_browsers_choice_counts_for_nothing(visitor, new_visitor, demo, acme):
    theirs = await asked(new_visitor(), demo, login_hint=HINT)
    await asked(visitor, demo, login_hint=HINT)

    refused = await visitor.send(theirs, organization=acme.id)

    assert (refused.status, refused.name) == (403, "expired")


async def test_who_has_an_account_goes_back_to_the_sign_in(visitor, demo, acme):
    page = await asked(visitor, demo, login_hint=HINT)
    link = next(each for each in page.text.split('href="') if "/ui/login/name" in each)

    page = await visitor.open(link.split('"')[0].replace("&amp;", "&"))

    assert (page.name, page.inputs["loginName"]) == ("login-name", HINT)
