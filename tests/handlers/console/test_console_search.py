"""The search of the console: what is found, for whom, and where an exact hit leads."""

from __future__ import annotations

import html
import re
from unittest.mock import ANY

import pytest
from msgspec import structs

from idp.management.users import name_search
from idp.records import APPLICATIONS, PROJECTS, USERS
from idp.records.upgrades import FAMILY_KEYS, FAMILY_KEYS_AGAIN
from storage import META, SCHEMA_ID, Insert, Update
from tests.support.management import console
from tests.support.measured.logged import log_fixture  # noqa: F401 - a fixture
from tests.support.sign_in.people import create
from tests.support.store.stored import everything

PARTIAL = "Only the first"
UPGRADING = "An upgrade is still adding family names"
SEARCH = "/ui/console/search"
ACORN = {
    "org": {"name": "Acorn", "domain": "acorn.example"},
    "human": {
        "userName": "anna",
        "profile": {"firstName": "Anna", "lastName": "Ackermann"},
        "email": {"email": "anna@mail.example", "isEmailVerified": True},
        "password": "a lamp in the attic",
    },
}


async def search(visitor, text, **more):
    return await visitor.get(SEARCH, params={"q": text, **more})


def hits(page):
    """What was found: the headings, each with the names beneath it."""
    parts = re.split(r"<h2>([^<]*)</h2>", page.text)[1:]
    names = re.compile(r'<li><a href="/ui/console[^"]*">(?:<bdi>)?([^<]*)')
    found = zip(parts[::2], parts[1::2], strict=True)
    return {title: list(map(html.unescape, names.findall(part))) for title, part in found}


async def acorn(owner):
    """Another organization, with one of each kind; its id."""
    org_id = (await owner.post("/admin/v1/orgs/_setup", ACORN)).json()["orgId"]
    here = {"x_idp_orgid": org_id}
    made = await owner.post("/management/v1/projects", {"name": "Acme shop"}, **here)
    project = made.json()["id"]
    app = {"name": "Acme web", "redirectUris": ["https://shop.acorn.example/cb"]}
    await owner.post(f"/management/v1/projects/{project}/apps/oidc", app, **here)
    robot = {"userName": "acme-backup", "name": "Acme backup"}
    await owner.post("/management/v1/users/machine", robot, **here)
    return org_id


async def objects(server, org_id):
    """The project and the application of an organization."""
    (project,) = (await server.store.find(PROJECTS, {"org_id": org_id}, order="name")).records
    of_project = {"project_id": project.id}
    (app,) = (await server.store.find(APPLICATIONS, of_project, order="name")).records
    return project, app


@pytest.mark.full
async def test_each_kind_is_found_by_the_beginning_of_its_name_in_any_case(server, visitor, owner):
    await acorn(owner)
    await console.admin(server, visitor)
    page = await search(visitor, "aC")

    assert (page.status, page.name) == (200, "console/search")
    found = hits(page)
    assert found.pop("Settings")[0] == "Service accounts"
    assert found == {
        "Users": ["Anna Ackermann"],
        "Applications": ["Acme web"],
        "Projects and roles": ["Acme shop"],
        "Organizations": ["Acorn"],
        "Service accounts": ["Acme backup"],
    }
    assert 'name="q" value="aC"' in page.text


async def test_a_user_is_found_by_name_username_and_email(server, visitor, owner):
    await acorn(owner)
    await console.admin(server, visitor)
    found = [hits(await search(visitor, text)) for text in ("anna ack", "ann", "anna@mail")]

    assert found == [{"Users": ["Anna Ackermann"]}] * 3


async def person(owner, username, given, family, **more):
    profile = {"givenName": given, "familyName": family}
    email = {"email": f"{username}@mail.example", "isVerified": True}
    await create(owner, username=username, profile=profile, email=email, **more)


@pytest.mark.every_row
@pytest.mark.parametrize(
    "text", ["zero", "ＺERO0", "auth zero", "Zero0 auth", "zero0 az", "+41 79 123 45 67"]
)
async def test_a_user_is_found_by_surname_by_all_words_in_any_order_and_by_phone(
    server, visitor, owner, text
):
    phone = {"phone": "+41791234567", "isVerified": True}
    await person(owner, "az", "Auth", "Zero0", phone=phone)
    await person(owner, "other", "Auth", "One")
    await person(owner, "third", "Anna", "Zerlina")
    await console.admin(server, visitor)

    assert hits(await search(visitor, text)) == {"Users": ["Auth Zero0"]}


@pytest.mark.parametrize("text", ["zero one", "auth ero", "zero \u2022", "+41 79 123 45 6"])
async def test_a_word_that_begins_none_of_the_names_excludes_a_user(server, visitor, owner, text):
    phone = {"phone": "+41791234567", "isVerified": True}
    await person(owner, "az", "Auth", "Zero0", phone=phone)
    await console.admin(server, visitor)

    assert "Users" not in hits(await search(visitor, text))


async def test_a_surname_of_several_words_is_found_by_its_beginning(
    server, visitor, owner, monkeypatch
):
    """More users have its first word than are compared."""
    monkeypatch.setattr(name_search, "MAX_CANDIDATES", 4)
    for n in range(3):
        await person(owner, f"van-{n}", "Anna", f"van Aken {n}")
    await person(owner, "berg", "Bo", "van der Berg")
    await console.admin(server, visitor)

    assert hits(await search(visitor, "van der b"))["Users"] == ["Bo van der Berg"]


async def test_the_page_says_that_not_all_users_with_the_first_word_were_compared(
    server, visitor, owner, monkeypatch
):
    for n in range(3):
        await person(owner, f"aken-{n}", f"Anna{n}", "Aken")
    await console.admin(server, visitor)
    complete = await search(visitor, "aken anna2")
    monkeypatch.setattr(name_search, "MAX_CANDIDATES", 4)
    partial = await search(visitor, "aken anna2")
    one_word = await search(visitor, "aken")

    assert hits(complete)["Users"] == ["Anna2 Aken"]
    assert [PARTIAL in page.text for page in (complete, partial, one_word)] == [
        False,
        True,
        False,
    ]


async def test_the_page_says_that_an_upgrade_is_still_adding_family_names(server, visitor, owner):
    await console.admin(server, visitor)
    done = (await server.store.get(META, SCHEMA_ID)).done
    pages = [await search(visitor, "zero")]
    for missing in ((FAMILY_KEYS_AGAIN,), (FAMILY_KEYS, FAMILY_KEYS_AGAIN)):
        present = {"done": [name for name in done if name not in missing]}
        await server.store.commit(Update(META, SCHEMA_ID, set=present))
        pages.append(await search(visitor, "zero"))

    assert [UPGRADING in page.text for page in pages] == [False, True, True]


async def test_a_user_whose_family_name_is_not_added_yet_is_found_by_display_name(
    server, visitor, owner
):
    await person(owner, "az", "Auth", "Zero0")
    (user,) = (await server.store.find(USERS, {"login_key": "az"})).records
    await server.store.commit(Update(USERS, user.id, set={"family_key": None}))
    await console.admin(server, visitor)
    found = [hits(await search(visitor, text)).get("Users") for text in ("auth zero", "auth")]

    assert found == [["Auth Zero0"]] * 2


async def test_pages_of_settings_are_found_by_their_titles_in_the_language_of_the_page(
    server, visitor
):
    await console.admin(server, visitor)
    english = hits(await search(visitor, "password a"))
    german = hits(await search(visitor, "signierschl", lang="de"))

    assert english["Settings"] == ["Password age", "Ask for the password again after"]
    assert list(german.values()) == [["Signierschlüssel"]]


async def test_a_setting_is_found_by_its_label_and_a_page_by_its_whole_title(server, visitor):
    await console.admin(server, visitor)
    page = await search(visitor, "second factor")
    branding = await visitor.get("/ui/console/search?q=bRanding")

    assert "Require a second factor" in hits(page)["Settings"]
    assert 'href="/ui/console/policies/login"' in page.text
    assert (branding.status, branding.location) == (
        303,
        f"{server.issuer}/ui/console/policies/branding",
    )


async def test_at_most_five_of_a_kind_are_shown(server, visitor):
    await console.admin(server, visitor)
    for n in range(7):
        await server.copy_user(f"minnie-{n}")
    found = hits(await search(visitor, "minnie"))

    assert len(found["Users"]) == 5


async def new_apps(server, owner, project, names):
    """More applications of a project, which are copies of one but for their names."""
    app = {"name": "Template", "redirectUris": ["https://shop.acorn.example/cb"]}
    made = await owner.post(f"/management/v1/projects/{project}/apps/oidc", app)
    template = await server.store.get(APPLICATIONS, made.json()["appId"])
    for name in names:
        copied = structs.replace(template, id=server.service.random.id(), name=name)
        await server.store.commit(Insert(APPLICATIONS, copied))


async def new_project(owner, name):
    return (await owner.post("/management/v1/projects", {"name": name})).json()["id"]


@pytest.mark.full
async def test_one_store_command_reads_the_applications_of_all_projects(
    server, visitor, owner, monkeypatch
):
    await console.admin(server, visitor)
    commands, numbers = [], []
    for name in ("find", "find_each", "count"):
        method = getattr(server.store, name)

        def counted(collection, *args, _method=method, **more):
            commands.extend([collection] if collection is APPLICATIONS else [])
            return _method(collection, *args, **more)

        monkeypatch.setattr(server.store, name, counted)
    for n in range(12):
        await new_apps(server, owner, await new_project(owner, f"Project {n}"), [f"Shop {n}"])
        commands.clear()
        page = await search(visitor, "shop")
        numbers.append(len(commands))

    assert hits(page) == {"Applications": ANY}
    assert len(hits(page)["Applications"]) == 5
    assert numbers == [1] * 12


async def test_every_application_of_a_project_with_many_is_searched(server, visitor, owner):
    await console.admin(server, visitor)
    project = await new_project(owner, "Large")
    names = [f"A {n:03}" for n in range(40)]
    await new_apps(server, owner, project, [*names, "ZEBRA one", "zebra two"])

    assert hits(await search(visitor, "Zebra"))["Applications"] == ["ZEBRA one", "zebra two"]


@pytest.mark.parametrize("what", ["user", "app", "project", "org", "login name", "email"])
async def test_one_exact_hit_leads_to_its_page(server, visitor, owner, what):
    org_id = await acorn(owner)
    await console.admin(server, visitor)
    (anna,) = (await server.store.find(USERS, {"login_key": "anna"})).records
    project, app = await objects(server, org_id)
    texts = {"user": anna.id, "app": app.id, "project": project.id, "org": org_id}
    texts |= {"login name": "ANNA@acorn.example", "email": "Anna@mail.example"}
    pages = {
        "app": f"projects/{project.id}/applications/{app.id}",
        "org": f"organizations/{org_id}",
    }
    pages |= {"project": f"projects/{project.id}"}
    found = await search(visitor, f"  {texts[what]} ")
    page = await visitor.follow(found)

    assert found.status == 303
    where = pages.get(what, f"users/{anna.id}")
    assert found.location == f"{server.issuer}/ui/console/{where}?org={org_id}"
    assert (page.status, page.name) == (200, "console/show")


async def test_an_email_of_two_users_is_no_single_hit(server, visitor):
    await console.admin(server, visitor)
    for name in ("minnie", "mickey"):
        await server.copy_user(name)
        (user,) = (await server.store.find(USERS, {"login_key": name})).records
        user.email = (await first_with_email(server)).email
        address = user.email.address
        change = {"email": user.email, "address_key": address.casefold()}
        await server.store.commit(Update(USERS, user.id, set=change))
    page = await search(visitor, address)

    assert page.status == 200
    assert {"Minnie", "Mickey"} <= set(hits(page)["Users"])


async def first_with_email(server):
    return next(each for each in [one async for one in server.store.scan(USERS)] if each.email)


@pytest.mark.full
async def test_only_what_the_person_may_read_is_found(server, visitor, new_visitor, owner):
    org_id = await acorn(owner)
    project, app = await objects(server, org_id)
    (anna,) = (await server.store.find(USERS, {"login_key": "anna"})).records
    await console.manager(server, visitor, "ORG_OWNER")
    texts = ["acme", "acorn", "anna", app.id, project.id, org_id, anna.id, "anna@mail.example"]
    pages = [await search(visitor, text) for text in texts]
    creator = new_visitor()
    await console.manager(server, creator, "ORG_PROJECT_CREATOR", name="creator")
    limited = hits(await search(creator, "ma"))

    assert [page.status for page in pages] == [200] * len(texts)
    assert [hits(page) for page in pages] == [{}] * len(texts)
    assert "Users" not in limited


@pytest.mark.full
async def test_an_administrator_of_one_organization_finds_its_users_alone(server, visitor, owner):
    """By surname, by several words and by phone, also where others have many of the same name."""
    org_id = await acorn(owner)
    for n in range(130):
        await server.copy_user(f"many-{n}")
    for name, home in {"far": None, "near": {"orgId": org_id}}.items():
        phone = {"phone": "+41791234567", "isVerified": True}
        more = {"phone": phone} | ({"organization": home} if home else {})
        await person(owner, name, "Many", "Zero0", **more)
    await console.manager(server, visitor, "ORG_USER_MANAGER", org_id=org_id)
    texts = ("zero", "many", "many zero", "zero many", "+41791234567", "nea", "far")
    found = [hits(await search(visitor, text)) for text in texts]

    assert found == [{"Users": ["Many Zero0"]}] * 6 + [{}]
    (link,) = re.findall(r'href="(/ui/console/users/[^"]*)"', (await search(visitor, "zero")).text)
    assert f"org={org_id}" in link


@pytest.mark.parametrize("text", ["", "a", " a ", "x" * 201, "a\x00b", "a\nb"], ids=repr)
async def test_a_text_that_can_not_be_searched_for_is_refused(server, visitor, text):
    await console.admin(server, visitor)
    page = await search(visitor, text)

    assert (page.status, page.name) == (400, "console/search")
    assert "Enter 2 to 200 characters." in page.text


@pytest.mark.parametrize("text", ["x" * 200, "\u202e\u0301\u0301", "*%_\\", "<b>'\"", "no one"])
async def test_a_strange_text_finds_nothing_and_changes_nothing(server, visitor, text):
    await console.admin(server, visitor)
    before = await everything(server.store)
    page = await search(visitor, text)

    assert page.status in (200, 400)
    assert hits(page) == {}
    assert await everything(server.store) == before


async def test_the_search_is_on_every_page_and_stays_in_the_organization(server, visitor, owner):
    org_id = await acorn(owner)
    await console.admin(server, visitor)
    page = await visitor.get(f"/ui/console/users?org={org_id}")

    form = page.text.partition('<form class="find"')[2].partition("</form>")[0]
    assert 'action="/ui/console/search"' in form
    assert f'name="org" value="{org_id}"' in form


async def test_what_is_searched_for_is_not_in_the_access_log(server, visitor, log):
    await console.admin(server, visitor)
    await search(visitor, "very-private-text")

    lines = [each for each in log.getvalue().splitlines() if '"event":"request"' in each]
    assert any(SEARCH in each for each in lines)
    assert not any("very-private-text" in each for each in lines)
