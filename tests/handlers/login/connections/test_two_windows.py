"""Two windows of one sign-in, in which a person has signed in elsewhere as two persons: what a
page confirms is what it has shown."""

from __future__ import annotations

from idp.records import USERS
from idp.records.identity_links import IDENTITY_LINKS
from tests.support.sign_in.federating import NAMES
from tests.support.sign_in.steps import text_of
from tests.support.store.stored import everything

CHANGED = "You signed in to a different account in another window."


async def as_two_persons(federation, provider, go_on):
    """The page after `go_on` of each of two identities of one sign-in, in this order."""
    begun, pages = await federation.begin(), []
    for number in (1, 2):
        provider.claims = {
            **NAMES,
            "preferred_username": f"ada{number}",
            "sub": f"person-{number}",
        }
        provider.userinfo = {"sub": f"person-{number}"}
        page = await federation.come_back(await federation.leave(begun))
        assert page.name == "idp-account", page.text
        pages.append(await go_on(page))
    return pages


async def test_a_confirmation_links_the_identity_that_its_page_has_shown(
    server, federation, provider
):
    first, second = await as_two_persons(federation, provider, federation.to_account)
    assert (first.name, second.name) == ("idp-link", "idp-link"), second.text
    before = await everything(server.store)

    page = await federation.visitor.submit(first, choice="link")

    assert (page.name, page.status) == ("idp-link", 400), page.text
    assert CHANGED in text_of(page)
    assert "ada2" in text_of(page)
    assert await everything(server.store) == before
    page = await federation.visitor.submit(page, choice="link")
    assert "code" in page.answer, page.text
    (link,) = (await server.store.find(IDENTITY_LINKS)).records
    assert link.external_id == "person-2"


async def test_a_form_that_names_no_identity_links_none(server, federation, provider):
    page = await federation.to_account(await federation.sign_in())
    assert page.name == "idp-link", page.text
    del page.hidden["identity"]

    page = await federation.visitor.submit(page, choice="link")

    assert (page.name, page.status) == ("idp-link", 400), page.text
    assert await server.store.count(IDENTITY_LINKS) == 0


async def test_an_account_is_created_for_the_identity_that_its_page_has_shown(
    server, federation, provider
):
    async def stay(page):
        return page

    first, _ = await as_two_persons(federation, provider, stay)
    before = await everything(server.store)

    page = await federation.visitor.submit(first, **first.inputs)

    assert (page.name, page.status) == ("idp-account", 400), page.text
    assert CHANGED in text_of(page)
    assert page.inputs["userName"] == "ada2"
    assert await everything(server.store) == before
    page = await federation.visitor.submit(page, **page.inputs)
    assert "code" in page.answer, page.text
    (link,) = (await server.store.find(IDENTITY_LINKS)).records
    user = await server.store.get(USERS, link.user_id)
    assert (link.external_id, user.user_name) == ("person-2", "ada2")
