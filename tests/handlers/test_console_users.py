"""People in the console: found, made with every part, proven, and let in or out."""

import base64
import re

from idp.records import USER_METADATA, USERS
from tests.support import console
from tests.support.stored import everything

NEW = "/ui/console/users/new"
MINNIE = {
    "profile.givenName": "Minnie",
    "profile.familyName": "Mouse",
    "email.email": "minnie@acme.example",
    "email.how": "isVerified",
}


async def made(server, visitor, **more):
    page = await console.admin(server, visitor, NEW)
    return await visitor.submit(page, **MINNIE, **more)


async def only(server, login_key):
    (user,) = (await server.store.find(USERS, {"login_key": login_key})).records
    return user


async def test_a_person_is_made_with_every_part(server, visitor):
    page = await made(
        server,
        visitor,
        **{
            "username": "minnie",
            "userId": "old-system-7",
            "profile.nickName": "Min",
            "profile.gender": "GENDER_FEMALE",
            "profile.preferredLanguage": "de",
            "profile.birthdate": "1928-11-18",
            "phone.phone": "+41 79 123 45 67",
            "phone.how": "isVerified",
            "address.locality": "Mouseton",
            "password.password": "a quiet afternoon by the sea",
            "password.changeRequired": "on",
            "metadata": "shoes=red\nsize = 36",
            "idpLinks.idpId": "corporate",
            "idpLinks.userId": "m7",
            "idpLinks.userName": "mm",
        },
    )

    assert (page.status, page.name) == (200, "console/show")
    user = await only(server, "minnie")
    assert user.id == "old-system-7"
    assert (user.profile.nick_name, user.profile.gender) == ("Min", "female")
    assert (user.email.is_verified, user.phone.number) == (True, "+41791234567")
    assert user.address.locality == "Mouseton"
    assert user.password.must_change
    assert [(one.idp_id, one.user_id) for one in user.idp_links] == [("corporate", "m7")]
    kept = {one.key: one.value async for one in server.store.scan(USER_METADATA)}
    assert kept == {"shoes": _encoded("red"), "size": _encoded("36")}


def _encoded(text):
    return base64.b64encode(text.encode()).decode()


async def test_a_code_is_shown_once_and_the_same_form_shows_the_same(server, visitor):
    page = await console.admin(server, visitor, NEW)
    filled = {**MINNIE, "email.how": "returnCode"}

    first = await visitor.send(page, **filled)
    again = await visitor.send(page, **filled)

    assert (first.status, first.name) == (200, "console/made")
    code = re.search(r"<code>(\w+)</code>", first.text)[1]
    assert code in again.text
    assert first.headers["Cache-Control"] == "no-store"
    there = await visitor.open(re.search(r'href="(/ui/console/users/[^"]+)"', first.text)[1])
    assert code not in there.text
    assert "(not confirmed)" in there.text
    proof = await visitor.open(there.url.partition("?")[0] + "/verify-email")
    wrong = await visitor.submit(proof, verificationCode="WRONG")
    assert (wrong.status, '<a href="#verificationCode">' in wrong.text) == (400, True)
    page = await visitor.submit(wrong, verificationCode=code)
    assert "Confirmed." in page.text
    assert (await only(server, "minnie@acme.example")).email.is_verified


async def test_mistakes_come_back_and_passwords_do_not(server, visitor):
    page = await console.admin(server, visitor, NEW)
    before = await everything(server.store)

    page = await visitor.submit(
        page,
        **{
            **MINNIE,
            "profile.familyName": " ",
            "profile.birthdate": "yesterday",
            "email.email": "minnie",
            "phone.phone": "12",
            "password.password": "password",
            "userId": "human",
        },
    )

    assert page.status == 400
    for name in (
        "profile.familyName",
        "profile.birthdate",
        "email.email",
        "phone.phone",
        "password.password",
        "userId",
    ):
        assert f'<a href="#{name}">' in page.text, name
    assert page.inputs["email.email"] == "minnie"
    assert page.inputs["password.password"] == ""
    assert '<details class="group" open>' in page.text
    assert await everything(server.store) == before


async def test_people_are_found_by_how_their_name_begins_a_page_at_a_time(server, visitor):
    for n in range(30):
        await server.copy_user(f"finder{n:02}")
    page = await console.admin(server, visitor, "/ui/console/users?by=userName&text=FINDER")

    assert "25 or more" in page.text
    assert "Finder00" in page.text
    following = re.search(r'href="([^"]+cursor=[^"]+)"', page.text)[1].replace("&amp;", "&")
    second = await visitor.open(following)
    assert "Finder29" in second.text
    assert "Finder00" not in second.text
    first = re.search(r'href="([^"]+)">First page', second.text)[1].replace("&amp;", "&")
    assert "Finder00" in (await visitor.open(first)).text
    assert "Nothing was found." in (await visitor.open("/ui/console/users?text=nobody")).text
    wrong = await visitor.open("/ui/console/users?cursor=forged")
    assert (wrong.status, wrong.name) == (400, "console/list")


async def test_somebody_is_locked_out_and_let_in_again(server, visitor):
    page = await made(server, visitor)
    here = page.url.partition("?")[0]

    for turn, state, notice in [
        ("lock", "locked", "Locked out."),
        ("unlock", "active", "No longer locked out."),
        ("deactivate", "inactive", "Deactivated."),
        ("reactivate", "active", "Active again."),
    ]:
        page = await visitor.submit(await visitor.open(f"{here}/{turn}"))

        assert notice in page.text
        assert (await only(server, "minnie@acme.example")).state == state
    late = await visitor.submit(await visitor.open(f"{here}/unlock"))
    assert late.status == 400


async def test_the_last_owner_is_not_locked_out(server, visitor):
    page = await console.admin(server, visitor, "/ui/console/users")
    owner = await only(server, "admin@localhost")
    form = await visitor.open(f"/ui/console/users/{owner.id}/lock")

    page = await visitor.submit(form)

    assert page.status == 400
    assert "Make somebody else an owner first." in page.text
    assert (await only(server, "admin@localhost")).state == "active"


async def test_a_manager_of_another_organization_finds_no_trace(server, visitor, new_visitor):
    await made(server, visitor)
    minnie = await only(server, "minnie@acme.example")
    other = new_visitor()
    set_up = await visitor.open("/ui/console/organizations/new")
    await visitor.submit(
        set_up,
        **{
            "org.name": "Acme",
            "human.userName": "anna",
            "human.profile.firstName": "Anna",
            "human.profile.lastName": "Owner",
            "human.email.email": "anna@acme.example",
            "human.password": console.PASSWORD,
        },
    )
    await console.sign_in(other, "anna", console.PASSWORD)

    for path in ("", "/lock", "/verify-email"):
        there = await other.get(f"/ui/console/users/{minnie.id}{path}")
        nowhere = await other.get(f"/ui/console/users/nobody{path}")

        assert (there.status, nowhere.status) == (404, 404)
    assert "Minnie" not in (await other.get("/ui/console/users")).text


async def test_a_form_counts_for_the_session_and_the_page_that_it_was_made_for(
    server, visitor, new_visitor
):
    await made(server, visitor)
    minnie = await only(server, "minnie@acme.example")
    lock, unlock = (f"/ui/console/users/{minnie.id}/{turn}" for turn in ("lock", "unlock"))
    mine = await visitor.open(lock)
    stranger = new_visitor()
    await console.manager(server, stranger, "ORG_OWNER")
    theirs = await stranger.open(lock)
    before = await everything(server.store)

    by_session = await visitor.post(lock, theirs.hidden)
    by_page = await visitor.post(unlock, mine.hidden)
    without = await visitor.post(lock, {"sequence": "1"})
    from_elsewhere = await visitor.post(
        lock, mine.hidden, headers={"Sec-Fetch-Site": "cross-site"}
    )

    answers = (by_session, by_page, without, from_elsewhere)
    assert [each.status for each in answers] == [403] * 4
    assert await everything(server.store) == before
