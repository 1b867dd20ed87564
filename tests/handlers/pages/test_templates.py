"""Every template: whole, accessible, harmless, and with the words of its page."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import pytest

from handlers.pages import rendering
from idp.foundation import i18n
from idp.foundation.i18n import Bundle, message
from tests.handlers.pages.input_purposes import AUTOCOMPLETE
from tests.support.pages import page_samples
from tests.support.pages.rendered import Page, as_it_is, bare, quiet, rendered

CANARY = "\"><svg onload=alert(1)>'&lt;${7*7}"
TEMPLATES = resources.files("templates")
NAMES = list(page_samples.BARE)

PAGES = [name for name in NAMES if not name.startswith(("console/", "docs"))]
every_page = pytest.mark.parametrize("name", NAMES)
every_language = pytest.mark.parametrize("tag", i18n.available())


def test_every_template_has_samples():
    folder = Path(str(TEMPLATES))
    files = folder.rglob("*.mako")
    names = {file.relative_to(folder).as_posix().removesuffix(".mako") for file in files}
    of_pages = {"page", "form", "webauthn", "console/frame", "console/parts", "console/plot"}
    of_pages |= {"account/frame", "account/cards"}
    of_pages |= {"mail/frame"}  # of mails, which are no pages

    assert names & of_pages == of_pages
    assert set(NAMES) == names - of_pages


@pytest.mark.full
@every_page
@every_language
def test_a_page_is_whole_html_in_its_language(name, tag):
    for html in (rendered(name, tag), bare(name, tag)):
        page = Page(html)

        assert html.startswith("<!doctype html>\n")
        assert (page.mistakes, page.open) == ([], [])
        assert (page.one("html")["lang"], page.one("html")["dir"]) == (tag, i18n.direction(tag))
        assert page.one("body")["data-page"] == name
        assert page.one("h1")["text"].strip()
        assert len(page.all("main")) == 1
        assert "${" not in html
        assert "%(" not in html


@every_page
def test_a_page_needs_exactly_the_values_its_head_lists(name):
    head = re.match(r"(?:##.*\n)+", TEMPLATES.joinpath(f"{name}.mako").read_text()).group()
    listed = {
        value
        for line in re.findall(r"^##   (\w[\w, ]*):", head, re.MULTILINE)
        for value in line.split(", ")
    }
    samples = page_samples.pages(as_it_is)[name]

    assert listed == set(samples) == set(page_samples.BARE[name])
    for missing in samples:
        values = {key: value for key, value in samples.items() if key != missing}
        with pytest.raises(NameError):
            rendering.render(name, i18n.load("en"), **values)


def test_the_head_of_the_frame_lists_the_common_values():
    head = TEMPLATES.joinpath("page.mako").read_text().split("<%")[0]

    assert re.findall(r"^##   (\w+):", head, re.MULTILINE) == list(rendering.COMMON)


@every_page
def test_a_value_never_becomes_markup(name):
    hostile = Page(rendered(name, said=lambda text: CANARY))
    harmless = Page(rendered(name, said=lambda text: "harmless"))

    def without_marks(page):
        return [part for part in page.shape() if part[0] != "mark"]

    assert without_marks(hostile) == without_marks(harmless)
    assert not [element for element in hostile.elements if "onload" in element]


@pytest.mark.promise("session: pages")
@every_page
def test_a_page_has_no_script_or_style_of_its_own(name):
    page = Page(rendered(name))

    assert page.all("style") == []
    assert {s["text"].strip() for s in page.all("script")} == {""}
    for element in page.elements:
        assert not [key for key in element if key == "style" or key.startswith("on")]
        for key in ("src", "href", "action"):
            value = element.get(key, "")
            is_file = "download" in element and value.startswith("data:text/plain;")
            assert is_file or not re.match("(?i)javascript:|data:|//", value)


@every_page
def test_every_input_has_a_visible_label(name):
    page = Page(rendered(name))
    labelled = [label["for"] for label in page.all("label")]
    inputs = [e for e in page.all("input", "select", "textarea") if e.get("type") != "hidden"]

    assert [element["id"] for element in inputs] == labelled
    assert all(label["text"].strip() for label in page.all("label"))
    assert not [element for element in page.elements if "placeholder" in element]


@every_page
def test_ids_are_unique_and_references_lead_somewhere(name):
    page = Page(rendered(name))
    ids = [element["id"] for element in page.elements if "id" in element]
    used = " ".join(
        element.get(key, "")
        for element in page.elements
        for key in ("aria-describedby", "aria-labelledby", "for")
    )

    assert len(ids) == len(set(ids))
    assert set(used.split()) <= set(ids)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_at_most_one_primary_action(name):
    for html in (rendered(name), bare(name)):
        assert len([e for e in Page(html).elements if e.get("data-kind") == "primary"]) <= 1


@pytest.mark.parametrize("name", PAGES)
def test_a_control_of_the_page_itself_is_never_sent(name):
    for button in quiet(name).all("button"):
        assert ("name" in button) <= (button.get("type") != "button")


@every_page
def test_one_element_at_most_takes_the_focus(name):
    assert len([e for e in Page(rendered(name)).elements if "autofocus" in e]) == 1
    assert len([e for e in quiet(name).elements if "autofocus" in e]) <= 1
    assert not [e for e in quiet(name).elements if "aria-invalid" in e]


@pytest.mark.full
def test_password_managers_learn_what_each_field_is():
    found = {
        (name, element["name"]): element.get("autocomplete")
        for name in NAMES
        if not name.startswith("console/") and name != "account/form"  # whose fields are data
        for element in Page(rendered(name)).all("input")
        if element.get("type") != "hidden"
    }

    assert found == AUTOCOMPLETE


def test_the_login_name_is_shown_and_sent_with_every_password():
    for name in ("password", "change-password", "account/password"):
        (field,) = quiet(name).named("loginName")

        assert (field["type"], field["value"]) == ("text", "minnie@acme.example")
        assert "readonly" in field


def test_the_title_names_the_service_when_no_application_asked():
    page = quiet("login-name", application_name=None)

    assert page.one("title")["text"] == "Sign in – Acme login"


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "//evil.example",
        "/\\evil.example",
        "/\t/evil.example",
        "///evil.example",
        "/\t//evil.example",
        "https:evil.example",
        "http://[",
        "wiki:open",
        "",
    ],
)
def test_an_address_that_is_no_web_page_is_not_linked(url):
    page = quiet("logged-out", application_url=url)

    assert url not in [link["href"] for link in page.all("a")]


def test_the_language_is_changed_by_links_that_keep_the_request():
    page = quiet("login-name", providers=None, query=[("flow", "f 1&2")], hidden=[])
    links = [link for link in page.all("a") if "hreflang" in link]

    assert [link["hreflang"] for link in links] == list(i18n.available())
    assert [link["lang"] for link in links] == list(i18n.available())
    assert [link["lang"] for link in links if "aria-current" in link] == ["en"]
    (german,) = [link for link in links if link["lang"] == "de"]
    assert (german["href"], german["text"]) == ("?flow=f+1%262&lang=de", "Deutsch")
    assert "English" in page.one("summary")["text"]


def test_the_first_differing_character_is_marked():
    page = quiet("explain")

    assert [mark["text"] for mark in page.all("mark")] == [rendering.NOTHING, "/", "s", ":"]
    assert "from character 35 on" in page.one("main")["text"]


@pytest.mark.parametrize(
    ("sent", "registered", "at"),
    [
        ("a", "a", None),
        ("ab", "ac", 1),
        ("a", "ab", 1),
        ("ab", "a", 1),
        ("", "a", 0),
        ("A", "a", 0),
    ],
)
def test_the_first_difference_is_found(sent, registered, at):
    assert rendering.difference(sent, registered) == at


def test_details_of_a_mistake_can_be_withheld():
    text = quiet("explain", explanation=None).one("main")["text"]

    assert "req-7f3a" in text
    assert "redirect" not in text


def test_an_expired_sign_in_leads_back_to_the_application():
    again, link = (link for link in quiet("expired").all("a") if "button" in link.get("class", ""))

    assert again["text"] == "Request a new one"
    assert link["href"] == "https://wiki.acme.example/?from=login"
    assert link["text"] == "Start again at Acme Wiki"


def test_the_host_page_names_the_fix():
    assert "IDP_ISSUER=http://192.168.1.20:8080" in rendered("host-mismatch")


def test_the_demo_offers_each_way_to_sign_in():
    page = quiet("demo")

    assert [link["href"] for link in page.all("a") if "prompt" in link["href"]] == [
        "/demo/login?prompt=login",
        "/demo/login?prompt=none",
        "/demo/login?prompt=select_account",
    ]
    assert [b["value"] for b in page.named("decision")][:2] == ["refresh", "logout"]
    assert all(pre["tabindex"] == "0" for pre in page.all("pre"))


def test_a_text_without_translation_keeps_its_own_language():
    arabic = Bundle("ar", {}, lambda n: 0)
    values = page_samples.BARE["login-name"]
    page = Page(rendering.render("login-name", arabic, **values, notice=message("New here.")))
    (span,) = [e for e in page.all("span") if e["text"] == "New here." and "lang" in e]

    assert page.one("html")["dir"] == "rtl"
    assert (span["lang"], span["dir"]) == ("en", "ltr")
