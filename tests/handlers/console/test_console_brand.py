"""Looks in the console: pictures that are sent as files, texts of the pages, and the preview."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from idp.records import PICTURES, POLICIES
from tests.support.management import console
from tests.support.pictures import SVG, encoded
from tests.support.sign_in.steps import Seen
from tests.support.store.stored import everything, only

PATH = "/ui/console/policies"
LOGO = f"{PATH}/pictures/logo"
TEXTS = f"{PATH}/texts?language=de&screen=login-name"


async def send(visitor, page, content=None, **fields):
    """Send the page's form as a browser does that has a file to send."""
    file = ("logo.png", content, "image/png") if content is not None else ("", b"")
    sent = {**page.hidden, **fields}
    answer = await visitor.request("POST", page.url, data=sent, files={"content": file})
    return await visitor.follow(answer)


def text_inputs(page):
    """The inputs' names with the usual texts, which are their labels."""
    return dict(re.findall(r'<label for="(t-[0-9a-f]{16})"[^>]*>([^<]*)</label>', page.text))


async def test_a_picture_is_sent_shown_replaced_and_taken_away(server, visitor):
    await console.admin(server, visitor)
    empty = await visitor.get(LOGO)
    listed = await send(visitor, empty, encoded())
    shown = await visitor.get(LOGO)
    await send(visitor, shown, encoded("JPEG"))
    kept = await only(server.store, PICTURES)
    gone = await send(visitor, await visitor.get(LOGO), decision="remove")

    assert "Saved." in listed.text
    assert 'enctype="multipart/form-data"' in empty.text
    (image,) = [one for one in Seen(shown).all("img") if "/ui/brand/" in one["src"]]
    assert (image["alt"], image["width"]) == ("Logo", "300")
    assert (kept.place, kept.type, kept.sequence) == ("logo", "image/jpeg", 2)
    assert "Removed." in gone.text
    assert [one async for one in server.store.scan(PICTURES)] == []


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (SVG, "SVG files can contain scripts"),
        (b"Dear Sir", "PNG, JPEG or WebP"),
        (encoded()[:40], "damaged"),
        (encoded(size=(2001, 1)), "2000 pixels"),
        (None, "Enter a value."),
    ],
)
async def test_what_is_no_picture_comes_back_with_the_reason(server, visitor, content, told):
    await console.admin(server, visitor)
    form = await visitor.get(LOGO)
    before = await everything(server.store)
    page = await send(visitor, form, content)

    assert (page.status, page.name) == (400, "console/picture")
    assert 'id="content-problem"' in page.text
    assert told in page.text
    assert await everything(server.store) == before


async def test_a_form_that_is_none_or_somebody_else_s_changes_nothing(
    server, visitor, new_visitor
):
    await console.admin(server, visitor)
    form = await visitor.get(LOGO)
    before = await everything(server.store)
    spoilt = await visitor.request(
        "POST", LOGO, content=b"x", headers={"Content-Type": "multipart/form-data; boundary=x"}
    )
    plain = await visitor.post(LOGO, form.hidden)
    large = await send(visitor, form, encoded() + b"x" * 600_000)
    assert "512 kB" in large.text
    form.hidden["token"] = "another"
    foreign = await send(visitor, form, encoded())

    assert [page.status for page in (spoilt, plain, large, foreign)] == [400, 400, 400, 403]
    assert await everything(server.store) == before


@pytest.mark.full
async def test_a_viewer_sees_pictures_and_texts_and_sets_none(server, visitor):
    await console.manager(server, visitor, "ORG_OWNER_VIEWER")
    before = await everything(server.store)
    picture, texts = await visitor.get(LOGO), await visitor.get(TEXTS)
    token = await console.token(server, visitor, LOGO)
    picture.hidden.update(token)
    pages = [
        await send(visitor, picture, encoded()),
        await visitor.post(TEXTS, await console.token(server, visitor, urlsplit(TEXTS).path)),
        await visitor.get(f"{PATH}/installation/pictures/logo"),
        await visitor.get(f"{PATH}/installation/texts"),
        await visitor.get(f"{PATH}/installation/label/preview"),
    ]

    assert (picture.status, picture.inputs) == (200, {})
    assert texts.status == 200
    assert [page.status for page in pages] == [403] * 5
    assert await everything(server.store) == before


async def test_a_viewer_sees_the_branding_with_its_preview_and_a_writer_its_form(
    server, visitor, new_visitor
):
    await console.admin(server, visitor)
    writer = await visitor.open(f"{PATH}/branding?done=saved")
    viewer = new_visitor()
    await console.manager(server, viewer, "ORG_OWNER_VIEWER")
    page = await viewer.get(f"{PATH}/branding")

    assert (writer.name, page.name) == ("console/action", "console/show")
    assert "Saved." in writer.text
    assert 'src="/ui/console/policies/label/preview"' in page.text
    assert "frame-src" in page.headers["Content-Security-Policy"]
    assert f"{PATH}/label/reset" not in writer.text
    saved = await visitor.submit(writer, primaryColor="#7a1f3d")
    assert f"{PATH}/label/reset" in saved.text


@pytest.mark.full
async def test_a_text_is_set_beside_the_usual_one_and_given_back(server, visitor):
    await console.admin(server, visitor)
    page = await visitor.get(TEXTS)
    (name,) = [id for id, label in text_inputs(page).items() if label == "Anmelden"]
    saved = await visitor.submit(page, **{name: "Herein"})
    other = await visitor.get(TEXTS.replace("login-name", "password"))
    await visitor.submit(other, **{next(iter(text_inputs(other))): "Sesam"})
    stored = await only(server.store, POLICIES)
    back = await visitor.submit(await visitor.get(TEXTS), **{name: ""})
    left = await only(server.store, POLICIES)

    assert "Gespeichert" in saved.text or "Saved." in saved.text
    assert "\nHerein</textarea>" in saved.text
    assert sorted(one.text for one in stored.rules.texts) == ["Herein", "Sesam"]
    assert "Herein" not in back.text
    assert [one.text for one in left.rules.texts] == ["Sesam"]


async def test_a_text_that_can_not_stand_there_comes_back_with_the_reason(server, visitor):
    await console.admin(server, visitor)
    page = await visitor.get(TEXTS.replace("login-name", "page"))
    inputs = text_inputs(page)
    (name,) = [id for id, label in inputs.items() if "%(application)s" in label][:1]
    before = await everything(server.store)
    refused = await visitor.submit(page, **{name: "<b>nowhere</b>"})

    assert refused.status == 400
    assert f'id="{name}-problem"' in refused.text
    assert "&lt;b&gt;nowhere&lt;/b&gt;</textarea>" in refused.text
    assert await everything(server.store) == before


async def test_somebody_else_s_words_are_not_replaced_unseen(server, visitor):
    await console.admin(server, visitor)
    page = await visitor.get(TEXTS)
    name = next(iter(text_inputs(page)))
    await visitor.submit(page, **{name: "One"})
    first, second = await visitor.get(TEXTS), await visitor.get(TEXTS)
    await visitor.submit(first, **{name: "Two"})
    late = await visitor.submit(second, **{name: "Three"})

    assert late.status == 412
    assert ">Two</code>" in late.text
    assert ">Save anyway</button>" in late.text
    assert (await only(server.store, POLICIES)).rules.texts[0].text == "Two"
    await visitor.submit(late, **{name: "Three"})
    assert (await only(server.store, POLICIES)).rules.texts[0].text == "Three"


async def test_the_first_words_of_somebody_else_are_not_replaced_unseen(server, visitor):
    await console.admin(server, visitor)
    first, second = await visitor.get(TEXTS), await visitor.get(TEXTS)
    name = next(iter(text_inputs(first)))
    await visitor.submit(first, **{name: "One"})
    late = await visitor.submit(second, **{name: "Two"})

    assert late.status == 412
    assert ">One</code>" in late.text
    assert (await only(server.store, POLICIES)).rules.texts[0].text == "One"


async def test_colours_are_seen_before_they_are_saved(server, visitor):
    await console.admin(server, visitor)
    form = await visitor.get(f"{PATH}/label")
    before = await everything(server.store)
    page = await visitor.follow(
        await visitor.post(
            f"{PATH}/label/preview",
            {
                **form.hidden,
                "primaryColor": "#7A1F3D",
                "fontColorDark": "red;}",
                "radius": "99",
                "font": "serif",
            },
        )
    )
    (sheet,) = [one["href"] for one in Seen(page).all("link") if "/ui/brand/" in one["href"]]
    styles = await visitor.get(sheet)

    assert (page.status, page.name) == (200, "console/preview")
    assert parse_qs(urlsplit(sheet).query) == {
        "scheme": ["light"],
        "primaryColor": ["#7a1f3d"],
        "radius": ["12"],
        "layout": ["card"],
        "font": ["serif"],
    }
    assert "--accent: #7a1f3d;" in styles.text
    assert styles.headers["Cache-Control"] == "no-store"
    assert await everything(server.store) == before


@pytest.mark.full
async def test_the_preview_has_both_schemes_and_directions(server, visitor):
    await console.admin(server, visitor)
    await visitor.submit(await visitor.get(f"{PATH}/label"), primaryColorDark="#ffb3c7")
    page = await visitor.get(f"{PATH}/label/preview")
    ways = [link for link in Seen(page).links if "scheme=" in link and "/preview" in link]
    (dark,) = [way for way in ways if "scheme=dark" in way]
    arabic = await visitor.get(dark.replace("in=en", "in=ar"))
    (sheet,) = [one["href"] for one in Seen(arabic).all("link") if "/ui/brand/" in one["href"]]

    assert len(ways) == 3 + 2 + 2
    assert '<html lang="ar" dir="rtl">' in arabic.text
    assert "color-scheme: dark" in (await visitor.get(sheet)).text
    assert "--accent: #ffb3c7;" in (await visitor.get(sheet)).text
    assert '<html lang="en"' in (await visitor.get(PATH)).text


async def test_the_preview_s_stylesheet_holds_nothing_but_colours(visitor):
    url = "/ui/brand/preview.css?scheme=dark;}&primaryColor=%7Dbody%7B&fontColor=%23abcdeg"
    page = await visitor.get(url)

    assert "body" not in page.text
    assert "abcdeg" not in page.text
    assert page.text.startswith(":root { color-scheme: light; }")
