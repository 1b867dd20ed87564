"""People in the console: found, made with every part, proven, and let in or out."""

import base64
import re

import pytest

from handlers.console import organizations
from handlers.console.users import service_user_actions
from handlers.forms.fields import submitted_values
from idp.oauth.params import Params
from idp.records import USER_METADATA, USERS
from tests.support.management import console
from tests.support.store.stored import everything

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


async def test_what_cannot_be_seen_in_a_login_name_is_left_out(server, visitor):
    typed = {"username": "min\u200bnie\u2060", "email.email": "minnie@acme.example\u200b"}
    page = await console.admin(server, visitor, NEW)
    shown = await visitor.submit(page, **MINNIE | typed)

    assert (shown.status, shown.name) == (200, "console/show")
    assert (await only(server, "minnie")).email.address == "minnie@acme.example"


@pytest.mark.parametrize("fields", [organizations._ADMINISTRATOR, service_user_actions._FIELDS])
def test_every_form_leaves_out_what_cannot_be_seen_in_a_login_name(fields):
    (path,) = (field.path for field in fields if field.path.endswith("userName"))
    form = Params([(path, "\u200bnightly\ufeff ")])

    assert submitted_values(fields, form)[path] == "nightly"


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
    assert "Email (not verified)" in there.text
    proof = await visitor.open(there.url.partition("?")[0] + "/verify-email")
    wrong = await visitor.submit(proof, verificationCode="WRONG")
    assert (wrong.status, 'id="verificationCode-problem"' in wrong.text) == (400, True)
    page = await visitor.submit(wrong, verificationCode=code)
    assert "Verified." in page.text
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
    assert "No results." in (await visitor.open("/ui/console/users?text=nobody")).text
    wrong = await visitor.open("/ui/console/users?cursor=forged")
    assert (wrong.status, wrong.name) == (400, "console/list")


@pytest.mark.full
async def test_somebody_is_locked_out_and_let_in_again(server, visitor):
    page = await made(server, visitor)
    here = page.url.partition("?")[0]

    for turn, state, notice in [
        ("lock", "locked", "Locked."),
        ("unlock", "active", "Unlocked."),
        ("deactivate", "inactive", "Deactivated."),
        ("reactivate", "active", "Reactivated."),
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
    assert "Add a second owner first." in page.text
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


@pytest.mark.full
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


async def test_a_person_is_changed_and_what_is_emptied_is_gone(server, visitor):
    page = await made(server, visitor, **{"profile.nickName": "Min"})
    form = await visitor.open(page.url.partition("?")[0] + "/edit")
    sent = {**form.inputs, "profile.familyName": "Muster", "profile.nickName": ""}

    page = await visitor.submit(form, **{**sent, "username": "minnie"})

    user = await only(server, "minnie")
    assert (user.profile.family_name, user.profile.nick_name) == ("Muster", None)
    assert "Saved." in page.text


async def test_another_address_is_verified_by_the_code_that_is_shown(server, visitor):
    page = await made(server, visitor)
    here = page.url.partition("?")[0]
    form = await visitor.open(f"{here}/email")

    told = await visitor.submit(form, email="mouse@acme.example", how="returnCode")

    code = re.search(r"<code>(\w+)</code>", told.text)[1]
    await visitor.submit(await visitor.open(f"{here}/verify-email"), verificationCode=code)
    user = await only(server, "minnie@acme.example")
    assert (user.email.address, user.email.is_verified) == ("mouse@acme.example", True)


async def test_another_code_verifies_the_address_and_the_one_before_no_more(server, visitor):
    page = await made(server, visitor)
    here, codes = page.url.partition("?")[0], []
    form = await visitor.open(f"{here}/email")
    await visitor.submit(form, email="mouse@acme.example", how="sendCode")
    for _ in range(2):
        form = await visitor.open(f"{here}/resend-email")
        told = await visitor.submit(form, how="returnCode")
        codes.append(re.search(r"<code>(\w+)</code>", told.text)[1])
        server.clock.advance(3600)

    proof = await visitor.open(f"{here}/verify-email")
    wrong = await visitor.submit(proof, verificationCode=codes[0])
    await visitor.submit(wrong, verificationCode=codes[1])
    user = await only(server, "minnie@acme.example")
    after = await visitor.get(here)

    assert (wrong.status, user.email.is_verified) == (400, True)
    assert f"{here}/resend-email" not in after.text


@pytest.mark.full
async def test_a_password_is_set_and_a_common_one_is_not(server, visitor, new_visitor):
    page = await made(server, visitor)
    here = page.url.partition("?")[0]
    form = await visitor.open(f"{here}/password")

    refused = await visitor.submit(form, **{"newPassword.password": "password"})
    page = await visitor.submit(refused, **{"newPassword.password": console.PASSWORD})

    assert (refused.status, refused.inputs["newPassword.password"]) == (400, "")
    assert "Saved." in page.text
    seen = await console.sign_in(new_visitor(), "minnie@acme.example", console.PASSWORD)
    assert seen.name == "console/message"


async def test_a_code_for_a_new_password_is_shown_to_who_asks(server, visitor):
    page = await made(server, visitor)
    form = await visitor.open(page.url.partition("?")[0] + "/password-reset")

    told = await visitor.submit(form, how="returnCode")

    assert told.name == "console/made"


async def test_sessions_are_seen_and_ended(server, visitor, new_visitor):
    page = await made(server, visitor, **{"password.password": console.PASSWORD})
    here = page.url.partition("?")[0]
    minnie = new_visitor()
    await console.sign_in(minnie, "minnie@acme.example", console.PASSWORD)
    page = await visitor.open(here + "/sessions")
    one = re.search(r'href="([^"]+/sessions/[^"]+/end)"', page.text)[1]

    page = await visitor.submit(await visitor.open(one))

    assert "Ended." in page.text
    assert "No active sessions." in page.text
    assert (await minnie.get("/ui/console")).status == 303


async def test_metadata_is_added_and_removed(server, visitor):
    page = await made(server, visitor)
    form = await visitor.open(page.url.partition("?")[0] + "/metadata/new")

    page = await visitor.submit(form, key="shoe size", value="36\r\n37")
    gone = re.search(r'href="([^"]+/metadata/[^"]+/remove)"', page.text)[1]
    kept = [one.value async for one in server.store.scan(USER_METADATA)]
    page = await visitor.submit(await visitor.open(gone))

    assert kept == [_encoded("36\n37")]
    assert "Removed." in page.text
    assert [one async for one in server.store.scan(USER_METADATA)] == []


async def test_roles_of_a_project_are_given_and_taken(server, visitor):
    page = await made(server, visitor)
    here = page.url.partition("?")[0]
    form = await visitor.open(f"{here}/grants/new")
    project = re.search(r'<option value="([^"]+)"[^>]*>Default<', form.text)[1]

    refused = await visitor.submit(form, projectId=project, roleKeys="nothing")
    new = await visitor.open(f"/ui/console/projects/{project}/roles/new")
    await visitor.submit(new, roleKey="admin", displayName="Admin")
    page = await visitor.submit(refused, projectId=project, roleKeys="admin")
    gone = re.search(r'href="([^"]+/grants/[^"]+/remove)"', page.text)[1]
    page = await visitor.submit(await visitor.open(gone))

    assert refused.status == 400
    assert "No roles in projects." in page.text


async def test_a_person_is_deleted_once_their_name_was_typed(server, visitor):
    page = await made(server, visitor)
    form = await visitor.open(page.url.partition("?")[0] + "/delete")
    name = "minnie@acme.example"

    refused = await visitor.submit(form, confirm="minnie")
    assert refused.status == 400
    page = await visitor.submit(refused, confirm=name)

    assert (page.status, page.name) == (200, "console/list")
    assert "Deleted." in page.text
    assert not (await server.store.find(USERS, {"login_key": "minnie@acme.example"})).records


@pytest.mark.parametrize("sequence", ["9" * 6000, "x", ""])
async def test_a_form_of_no_state_is_no_fault_of_ours(server, visitor, sequence):
    await console.admin(server, visitor)
    user = (await server.store.find(USERS, {"login_key": "demo"})).records[0]
    page = await visitor.open(f"/ui/console/users/{user.id}/edit")

    done = await visitor.send(page, username="demo", sequence=sequence)

    assert done.status in (303, 400)
