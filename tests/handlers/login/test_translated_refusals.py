"""Pages about a refusal, read in German: no sentence is English that a reader is not told is."""

import re

import pytest

from handlers.pages import rendering
from handlers.pages.error_texts import ERROR_TEXTS
from idp.foundation.i18n import load
from idp.oauth.errors import UnusableRequest
from idp.oauth.refusals import explain
from tests.support.sign_in.steps import Seen, text_of

GERMAN = {"Accept": "text/html", "Accept-Language": "de"}
ENGLISH = GERMAN | {"Accept-Language": "en"}
ERROR_CODES = [*explain._MISTAKES, "a slug of tomorrow"]


def sentences_of(html):
    """The texts between the tags of `<main>`, without what is marked as English."""
    main = html.partition("<main")[2].partition("</main>")[0]
    main = re.sub(r'<span lang="en".*?</span>|<(code|time).*?</\1>', "", main, flags=re.DOTALL)
    texts = (" ".join(text.split()) for text in re.sub(r"<[^>]+>", "\n", main).split("\n"))
    return {text for text in texts if re.search(r"[a-z]{2,} [a-z]{2,}", text)}


def explained(error_code, tag):
    refusal = UnusableRequest(
        error_code, "what exactly it was, in plain English", sent="sent value"
    )
    explanation = explain.explanation(refusal)
    return rendering.render("explain", load(tag), request_id="r", explanation=explanation)


@pytest.mark.parametrize("error_code", ERROR_CODES)
def test_an_explanation_shares_no_sentence_with_the_english_one(error_code):
    english, german = (sentences_of(explained(error_code, tag)) for tag in ("en", "de"))

    assert len(german) >= 4
    assert not german & english - {"sent value"}
    assert "what exactly it was, in plain English" not in german


@pytest.mark.parametrize("error_code", ERROR_CODES)
def test_the_detail_is_marked_as_english_where_it_says_more(error_code):
    html = explained(error_code, "de")
    marked = '<span lang="en" dir="ltr">what exactly it was, in plain English</span>'

    assert html.count(marked) == html.count("Technische Einzelheit")
    assert html.count("what exactly") == html.count(marked)


async def test_a_mistake_is_explained_in_the_language_that_the_application_asked_for(
    visitor, demo
):
    visitor.http.headers["Accept-Language"] = "en"
    for url in (
        demo.authorize_url(redirect_uri="https://evil.example/", ui_locales="de"),
        demo.logout_url(post_logout_redirect_uri="https://evil.example/", ui_locales="de"),
    ):
        page = await visitor.get(url)

        assert (page.name, page.headers["Content-Language"]) == ("explain", "de")


async def refused(visitor, status, headers):
    """A page of this status."""
    form = {"Content-Type": "application/x-www-form-urlencoded", **headers}
    if status == 400:
        return await visitor.get("/ui/login?a=%", headers=headers)
    if status == 403:
        cross = form | {"Sec-Fetch-Site": "cross-site"}
        await visitor.get("/demo/sign-in")
        return await visitor.post("/demo", {"decision": "refresh"}, headers=cross)
    if status == 404:
        return await visitor.get("/nowhere", headers=headers)
    if status == 405:
        return await visitor.request("DELETE", "/ui/login", headers=headers)
    if status == 413:
        return await visitor.post("/demo", {"a": "x" * 2_000_000}, headers=form)
    return await visitor.get("/demo", headers=headers | {"X-Long": "x" * 40_000})


@pytest.mark.parametrize("status", [400, 403, 404, 405, 413, 431])
async def test_an_error_page_shares_no_sentence_with_the_english_one(visitor, status):
    german = await refused(visitor, status, GERMAN)
    english = await refused(visitor, status, ENGLISH)

    assert (german.status, english.status, german.name) == (status, status, "error")
    assert Seen(german).one("html")["lang"] == "de"
    assert len(sentences_of(german.text)) >= 3
    assert not sentences_of(german.text) & sentences_of(english.text)


def test_the_texts_of_every_status_are_translated():
    bundle = load("de")
    texts = [text for each in ERROR_TEXTS.values() for text in (each.title, each.sentence)]

    assert set(ERROR_TEXTS) == {403, 404, 405, 413, 429, 431, 503}
    assert not [t.msgid for t in texts if not bundle.is_translated(t.msgid, t.context)]


async def test_a_problem_of_the_demo_is_reported_in_german_and_quoted_in_english(visitor):
    page = await visitor.get("/demo/sign-in?prompt=none")
    while page.location:
        page = await visitor.get(page.location, headers=GERMAN)

    assert "Die letzte Anfrage ist fehlgeschlagen." in text_of(page)
    assert re.search('<span lang="en" dir="ltr">login_required', page.text)
    assert not [text for text in sentences_of(page.text) if "login_required" in text]
