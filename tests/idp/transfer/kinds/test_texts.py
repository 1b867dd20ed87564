"""Texts and pictures of a package: kept where there is a place for them."""

from __future__ import annotations

import base64

import pytest

from idp.mail import wording_rules
from idp.policies import images
from idp.policies.pictures import PICTURE_LIMITS
from idp.records import PICTURES, POLICIES
from idp.transfer.kinds.texts import KINDS
from tests.support import pictures
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything
from tests.support.transfer.bringing import brought, exported_org

ORG = {"orgId": "acme", "org": {"name": "Acme"}}
RESET = {
    "language": "de",
    "subject": "Neues Passwort",
    "title": "Hallo",
    "greeting": "Guten Tag",
    "text": "Bei {{.Host}} wurde ein neues Passwort verlangt.",
    "buttonText": "Weiter",
}
PAGES = {
    "language": "en",
    "texts": [{"screen": "login-name", "key": "Sign in", "text": "Come in"}],
}


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


async def test_words_of_messages_are_stored_and_returned(server):
    lists = {"passwordResetMessages": [RESET], "verifyEmailMessages": [RESET | {"language": "fr"}]}
    outcomes = await brought(server, ORG | lists)

    told = await exported_org(server, "acme")
    assert [each.action for each in outcomes] == ["create"] * 3
    assert {name: told[name] for name in lists} == lists
    await events_agree(server.store)


async def test_every_message_whose_words_can_be_set_has_its_list(server):
    taken = [each for each in KINDS if each.plan and each.member.endswith("Messages")]

    assert len(taken) == len(wording_rules.TYPES)


async def test_words_with_unknown_placeholders_are_left_out(server):
    words = RESET | {"text": "Dear {{.FirstName}}", "preHeader": "x", "footerText": "y"}
    (_, made) = await brought(server, ORG | {"passwordResetMessages": [words]})

    assert made.action == "create"
    assert {(each.field, each.error_code) for each in made.problems} == {
        ("text", "text.placeholder"),
        ("preHeader", "field.unknown"),
        ("footerText", "field.unknown"),
    }
    told = await exported_org(server, "acme")
    assert told["passwordResetMessages"] == [RESET | {"text": ""}]


@pytest.mark.parametrize(("said", "kept"), [("pt", "pt-BR"), ("de-CH", "de")])
async def test_a_language_that_is_written_otherwise_is_stored_for_the_nearest(server, said, kept):
    (_, made) = await brought(
        server, ORG | {"passwordResetMessages": [RESET | {"language": said}]}
    )

    told = await exported_org(server, "acme")
    assert [each["language"] for each in told["passwordResetMessages"]] == [kept]
    assert [each.error_code for each in made.problems] == ["language.not_shipped"]


@pytest.mark.parametrize("member", ["passwordResetMessages", "loginTexts"])
async def test_a_language_that_there_is_not_is_named_and_left_out(server, member):
    (_, left) = await brought(server, ORG | {member: [{"language": "tlh"}]})

    assert left.action == "skip"
    assert [each.error_code for each in left.problems] == ["language.not_shipped"]
    assert await server.store.count(POLICIES) == 0


async def test_texts_of_the_pages_are_stored_and_returned(server):
    (_, made) = await brought(server, ORG | {"loginTexts": [PAGES]})

    assert made.action == "create"
    assert (await exported_org(server, "acme"))["loginTexts"] == [PAGES]


async def test_texts_of_other_pages_are_named_and_left_out(server):
    foreign = {"language": "en", "loginText": {"title": "Welcome"}}
    (_, left) = await brought(server, ORG | {"loginTexts": [foreign]})

    assert left.action == "skip"
    assert {each.error_code for each in left.problems} == {"field.unknown", "login_text.not_found"}


async def test_a_text_that_has_no_place_any_more_is_left_out_alone(server):
    gone = {"screen": "login-name", "key": "Was here once", "text": "Gone"}
    torn = {"screen": "page", "key": "to continue to %(application)s", "text": "on"}
    pages = PAGES | {"texts": [gone, torn, *PAGES["texts"]]}
    (_, made) = await brought(server, ORG | {"loginTexts": [pages]})

    assert (await exported_org(server, "acme"))["loginTexts"] == [PAGES]
    assert {(each.field, each.error_code) for each in made.problems} == {
        ("texts[0].key", "login_text.not_found"),
        ("texts[1].text", "login_text.placeholders"),
    }


async def test_pictures_are_the_same_however_often_they_move(server):
    photo = pictures.encoded("JPEG", size=(900, 900))
    rows = [
        {"place": place, "content": encoded(pictures.encoded("PNG") if "dark" in place else photo)}
        for place in PICTURE_LIMITS
    ]
    await brought(server, ORG | {"pictures": rows})

    told = (await exported_org(server, "acme"))["pictures"]
    other = [row for row in told]
    await brought(server, {"orgId": "b", "org": {"name": "B"}, "pictures": other})
    assert (await exported_org(server, "b"))["pictures"] == told
    again = await brought(server, ORG | {"pictures": told}, updates=True, job="second")
    assert {each.action for each in again} == {"skip"}
    await events_agree(server.store)


async def test_nothing_comes_along_with_a_picture(server):
    rows = [{"place": "logo", "content": encoded(pictures.located())}]
    await brought(server, ORG | {"pictures": rows})

    (told,) = (await exported_org(server, "acme"))["pictures"]
    assert b"script" not in base64.b64decode(told["content"])


@pytest.mark.parametrize(
    "spoil",
    [
        lambda photo: photo + b"<script>",
        lambda photo: photo[:2] + b"\xff\xfe\x00\x08<b>hi!" + photo[2:],
        lambda photo: photo[:2] + b"\xff\xe1\x00\x08Exif\0\0" + photo[2:],
    ],
)
async def test_a_photograph_with_something_beside_its_picture_is_drawn_anew(spoil):
    bare = images.reencoded(pictures.encoded("JPEG"), PICTURE_LIMITS["logo"]).content
    assert images.reencoded_if_needed(bare, PICTURE_LIMITS["logo"]).content == bare

    made = images.reencoded_if_needed(spoil(bare), PICTURE_LIMITS["logo"])
    assert made.content != spoil(bare)
    assert b"<" not in made.content[-12:]


@pytest.mark.parametrize("name", list(pictures.bad()))
async def test_what_is_no_picture_is_refused(server, name):
    content, error_code = pictures.bad()[name]
    rows = [{"place": "logo", "content": encoded(content)}]
    (_, failed) = await brought(server, ORG | {"pictures": rows})

    assert failed.action == "fail"
    (problem,) = failed.problems
    assert problem.field == "content"
    assert problem.error_code in (error_code, "field.too_long")
    assert await server.store.count(PICTURES) == 0


async def test_what_is_there_changes_only_with_update(server):
    lists = {
        "loginTexts": [PAGES],
        "passwordResetMessages": [RESET],
        "pictures": [{"place": "logo", "content": encoded(pictures.encoded())}],
    }
    other = {
        "loginTexts": [PAGES | {"texts": []}],
        "passwordResetMessages": [RESET | {"title": "Du"}],
        "pictures": [{"place": "logo", "content": encoded(pictures.encoded(size=(9, 9)))}],
    }
    await brought(server, ORG | lists)
    before = await everything(server.store)
    outcomes = await brought(server, ORG | other, job="second")
    assert {each.action for each in outcomes} == {"skip"}
    assert await everything(server.store) == before

    outcomes = await brought(server, ORG | other, job="third", updates=True)
    assert [each.action for each in outcomes] == ["skip", "update", "update", "update"]
    assert (await exported_org(server, "acme"))["loginTexts"] == other["loginTexts"]
    await events_agree(server.store)
