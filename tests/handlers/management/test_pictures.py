"""Logo and icon of an organization's pages: sent, shown, replaced, and taken away."""

from __future__ import annotations

import base64
from datetime import timedelta

import pytest

from idp.management.organizations import removal as organization_removal
from idp.records import EVENTS, ORGANIZATIONS, PICTURES
from storage import Update
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.pictures import bad, encoded, opened
from tests.support.samples.policies import PNG, address
from tests.support.sign_in.steps import Seen
from tests.support.store.stored import count, everything, only

LOGO = "/management/v1/policies/label/logo"
ALL = "/admin/v1/policies/label/logo"
ASSET = "/assets/v1/org/policy/label/logo"


@pytest.fixture
def manager(io_loop, server, visitor, demo):
    """Who manages the organization that the demo's application belongs to."""

    async def make():
        (organization,) = [one async for one in server.store.scan(ORGANIZATIONS)]
        return await new_caller(server, visitor, organization, "ORG_SETTINGS_MANAGER")

    return io_loop.run_sync(make)


def body(content):
    return {"content": base64.b64encode(content).decode()}


async def put(caller, path=LOGO, **picture):
    page = await caller.request("PUT", path, body(encoded(**picture)))
    assert page.status == 200, page.text
    return page


async def pictures(visitor, demo):
    """What a sign-in page shows: its pictures, those of dark pages, and the icons of its tab."""
    page = await visitor.open(demo.authorize_url())
    seen = Seen(page)
    images = [one for one in seen.all("img") if "/ui/brand/" in one["src"]]
    dark = [one["srcset"] for one in seen.all("source")]
    icons = [one["href"] for one in seen.all("link") if one["rel"] == "icon"]
    return images, dark, icons


async def test_a_logo_is_at_the_head_of_the_pages_by_the_organization_s_name(
    visitor, demo, server, manager
):
    before = await pictures(visitor, demo)
    await put(manager)
    (image,), dark, (icon,) = await pictures(visitor, demo)
    organization = await only(server.store, ORGANIZATIONS)

    assert before[0] == []
    assert (image["alt"], image["width"], image["height"]) == (organization.name, "300", "90")
    assert dark == []
    assert icon.startswith("/ui/static/")


async def test_a_dark_one_is_shown_on_dark_pages_and_an_icon_in_the_tab(visitor, demo, manager):
    await put(manager)
    await put(manager, f"{LOGO}_dark", colour=(250, 250, 250))
    await put(manager, LOGO.replace("logo", "icon"), size=(500, 500))
    (image,), (dark,), (icon,) = await pictures(visitor, demo)
    shown = opened((await visitor.http.get(visitor.base + dark)).content)

    assert image["src"] != dark
    assert shown.getpixel((0, 0))[:3] == (250, 250, 250)
    assert opened((await visitor.http.get(visitor.base + icon)).content).size == (128, 128)


async def test_it_is_served_as_a_picture_and_nothing_else_and_cached_for_ever(
    visitor, demo, manager
):
    await put(manager)
    (image,), _, _ = await pictures(visitor, demo)
    answer = await visitor.http.get(visitor.base + image["src"])
    again = await visitor.http.get(
        visitor.base + image["src"], headers={"If-None-Match": answer.headers["Etag"]}
    )

    assert answer.headers["Content-Type"] == "image/png"
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    policy = answer.headers["Content-Security-Policy"]
    assert policy == "default-src 'none'; frame-ancestors 'none'"
    assert opened(answer.content).getpixel((0, 0))[:3] == (122, 31, 61)
    assert (again.status_code, again.content) == (304, b"")


async def test_another_takes_its_place_and_the_old_address_is_not_cached(
    visitor, demo, server, manager
):
    await put(manager)
    ((old,), _, _) = await pictures(visitor, demo)
    await put(manager, colour=(1, 2, 3))
    ((new,), _, _) = await pictures(visitor, demo)
    late = await visitor.http.get(visitor.base + old["src"])

    assert old["src"] != new["src"]
    assert late.headers["Cache-Control"] == "no-store"
    assert opened(late.content).getpixel((0, 0))[:3] == (1, 2, 3)
    assert (await count(server.store))["pictures"] == 1
    types = [one.type async for one in server.store.scan(EVENTS) if one.collection == "pictures"]
    assert sorted(types) == ["picture.changed", "picture.created"]


async def test_one_that_is_taken_away_is_gone_at_once(visitor, demo, server, manager):
    await put(manager)
    ((image,), _, _) = await pictures(visitor, demo)
    page = await manager.request("DELETE", LOGO, None)
    after = await pictures(visitor, demo)

    assert page.status == 200
    assert after[0] == []
    assert (await visitor.get(image["src"])).status == 404
    assert refused(await manager.request("DELETE", LOGO, None), 404, 5)


async def test_an_organization_without_one_has_the_installation_s_and_either_hides_both_of_them(
    visitor, demo, owner, manager
):
    await put(owner, ALL)
    await put(owner, f"{ALL}_dark", colour=(9, 9, 9))
    (inherited,), both, _ = await pictures(visitor, demo)
    found = (await manager.get(LOGO)).json()
    await put(manager, f"{LOGO}_dark", colour=(1, 2, 3))
    (own,), none, _ = await pictures(visitor, demo)

    assert (inherited["alt"], len(both)) == ("Sign-in service", 1)
    assert (found["isDefault"], found["picture"]["url"]) == (True, visitor.base + inherited["src"])
    assert own["src"] != inherited["src"]
    assert none == []


async def test_one_organization_s_picture_is_none_of_another_s(server, visitor, demo, manager):
    other = await new_organization(server, "other.example")
    neighbour = await new_caller(server, visitor, other, "ORG_OWNER")
    await put(neighbour)
    assert (await pictures(visitor, demo))[0] == []
    before = await everything(server.store)

    assert "picture" not in (await manager.get(LOGO)).json()
    assert refused(await manager.request("DELETE", LOGO, None), 404, 5)
    refused(await manager.request("PUT", ALL, {"content": PNG}), 403, 7)
    assert await everything(server.store) == before


async def test_what_can_not_be_shown_changes_nothing(server, manager):
    await put(manager)
    before = await everything(server.store)

    for name, (content, error_code) in bad().items():
        page = await manager.request("PUT", LOGO, body(content))
        expected = {"field.too_long"} if len(content) > 512 * 1024 else {error_code}
        assert set(refused(page, 400, 3).values()) == expected, name
    for content in ("", "no base64", "ä"):
        assert refused(await manager.request("PUT", LOGO, {"content": content}), 400, 3)
    assert refused(await manager.request("PUT", LOGO, {}), 400, 3) == {"content": "field.required"}
    assert refused(await manager.request("PUT", f"{LOGO}s", {"content": PNG}), 404, 5)
    assert await everything(server.store) == before


async def test_who_has_seen_another_state_replaces_nothing(server, manager):
    tag = (await put(manager)).headers["ETag"]
    await put(manager, colour=(1, 2, 3))
    before = await everything(server.store)

    page = await manager.request("PUT", LOGO, {"content": PNG}, If_Match=tag)

    refused(page, 412, 9)
    assert await everything(server.store) == before


async def test_it_ends_with_its_organization(server, visitor, owner):
    other = await new_organization(server, "other.example")
    neighbour = await new_caller(server, visitor, other, "ORG_OWNER")
    await put(neighbour)

    assert (await owner.request("DELETE", f"/admin/v1/orgs/{other.id}", None)).status == 200
    await organization_removal.purge_deleted(server.service)
    assert "pictures" not in await count(server.store)


# As files


async def send(caller, content, type, path=ASSET):
    headers = {"Authorization": f"Bearer {caller.token}", "Content-Type": type}
    return await caller.visitor.request("POST", path, content=content, headers=headers)


async def test_a_file_comes_as_it_is_or_in_a_form(server, owner, manager):
    form = (
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n%s\r\n--x--'
    )
    for content, type, path in (
        (encoded(), "image/png", ASSET),
        (form % encoded("JPEG"), "multipart/form-data; boundary=x", f"{ASSET}/dark"),
    ):
        assert (await send(manager, content, type, path)).status == 200
    page = await send(owner, encoded(), "image/png", "/assets/v1/instance/policy/label/icon")

    assert page.status == 200
    found = [one async for one in server.store.scan(PICTURES)]
    assert sorted((one.place, one.type) for one in found) == [
        ("icon", "image/png"),
        ("logo", "image/png"),
        ("logo_dark", "image/jpeg"),
    ]


@pytest.mark.parametrize(
    ("content", "type", "status"),
    [
        (b"", "image/png", 400),
        (encoded(), "application/json", 415),
        (encoded(), "", 415),
        (b"<svg/>", "image/svg+xml", 400),
        (b"--x--", "multipart/form-data; boundary=x", 400),
        (b"\x89PNG" + b"x" * 600_000, "image/png", 413),
    ],
)
async def test_a_file_that_is_no_picture_changes_nothing(server, manager, content, type, status):
    before = await everything(server.store)
    page = await send(manager, content, type)

    assert page.status == status, page.text
    assert await everything(server.store) == before


async def test_only_who_may_sends_files(server, visitor, demo):
    organization = await only(server.store, ORGANIZATIONS)
    viewer = await new_caller(server, visitor, organization, "ORG_OWNER_VIEWER")
    before = await everything(server.store)

    assert (await send(viewer, encoded(), "image/png")).status == 403
    assert (await visitor.request("POST", ASSET, content=encoded())).status == 401
    assert (await visitor.get("/assets/v1/org/policy/label/other")).status == 404
    assert await everything(server.store) == before


async def test_a_page_names_the_organization_instead_of_the_service_on_request(
    visitor, demo, server, manager
):
    name = "<b>Acme & Söhne</b>"
    organization = await only(server.store, ORGANIZATIONS)
    await server.store.commit(Update(ORGANIZATIONS, organization.id, set={"name": name}))
    server.clock.advance(timedelta(seconds=6))
    await put(manager)
    page = await visitor.open(demo.authorize_url())
    await manager.post(address("label"), {"disableWatermark": True})
    without = await visitor.open(demo.authorize_url())

    assert "Sign-in service" in page.text
    assert "Sign-in service" not in without.text
    for one in (page, without):
        (image,) = [each for each in Seen(one).all("img") if "/ui/brand/" in each["src"]]
        assert image["alt"] == name
        assert "<b>" not in one.text


async def test_a_logo_that_is_hard_to_see_stands_on_a_plate(visitor, demo, server, manager):
    await put(manager, colour=(20, 24, 31))
    page = await visitor.open(demo.authorize_url())
    (picture,) = Seen(page).all("picture")
    (stored,) = [one async for one in server.store.scan(PICTURES)]
    answer = (await manager.get(LOGO)).json()

    assert picture["data-plate-on-dark"] == "light"
    assert "data-plate-on-light" not in picture
    assert answer["picture"]["plateOn"] == ["dark"]
    assert stored.plates == {"dark": "light"}


async def test_a_logo_is_judged_again_when_the_colours_of_the_pages_change(
    visitor, demo, server, manager
):
    await put(manager, colour=(20, 24, 31))
    before = Seen(await visitor.open(demo.authorize_url())).all("picture")
    await manager.post(address("label"), {"backgroundColorDark": "#f0f0f0"})
    after = Seen(await visitor.open(demo.authorize_url())).all("picture")

    assert "data-plate-on-dark" in before[0]
    assert "data-plate-on-dark" not in after[0]


@pytest.mark.full
async def test_a_background_becomes_a_small_photo_beside_the_form(visitor, demo, manager):
    path = LOGO.replace("logo", "background")
    await put(manager, path, size=(2000, 1200))
    without = Seen(await visitor.open(demo.authorize_url()))
    await manager.post(address("label"), {"layout": "split"})
    seen = Seen(await visitor.open(demo.authorize_url()))
    (backdrop,) = [one for one in seen.all("img") if one.get("class") == "backdrop"]
    photo = await visitor.http.get(visitor.base + backdrop["src"])

    assert [one for one in without.all("img") if one.get("class") == "backdrop"] == []
    assert "data-brand" not in without.one("body")
    assert (seen.one("body")["data-brand"], backdrop["alt"]) == ("split", "")
    assert photo.headers["Content-Type"] == "image/jpeg"
    assert len(photo.content) <= 200_000
    assert opened(photo.content).size == (1600, 960)


async def test_without_a_background_there_is_no_room_for_it(visitor, demo, manager):
    await manager.post(address("label"), {"layout": "split"})

    assert "data-brand" not in Seen(await visitor.open(demo.authorize_url())).one("body")


async def test_a_plain_page_has_the_shape_and_font_of_its_organization(visitor, demo, manager):
    await manager.post(address("label"), {"layout": "plain", "radius": 0, "font": "mono"})
    page = await visitor.open(demo.authorize_url())
    sheets = [one["href"] for one in Seen(page).all("link") if one["rel"] == "stylesheet"]
    (sheet,) = [each for each in sheets if each.startswith("/ui/brand/")]
    text = (await visitor.get(sheet)).text

    assert Seen(page).one("body")["data-brand"] == "plain"
    assert "--radius: 0.0rem;" in text
    assert "--font: var(--font-code);" in text
