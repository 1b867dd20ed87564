"""Texts of the login pages, per organization and language, and in which languages they are."""

from __future__ import annotations

from datetime import timedelta

import pytest

from idp.foundation import i18n
from idp.management.policies.login_texts import MAX_TEXTS
from idp.policies.page_texts import SCREENS, built_in
from idp.records import ORGANIZATIONS
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.samples.policies import address
from tests.support.sign_in.steps import Seen, text_of
from tests.support.store.stored import everything, only

OWN = "/management/v1/text/login/{}"
ALL = "/admin/v1/text/login/{}"
USUAL = "/management/v1/text/default/login/{}"
TITLE = ("login-name", "Sign in")
ASKING = ("page", "to continue to %(application)s")
HOSTILE = [
    "<script>document.title='executed'</script>",
    '"><img src=x onerror=alert(1)>',
    "</title><svg onload=alert(1)>",
    "${__import__('os')}",
    "{{.Host}} {0} {x}",
    "&lt;b&gt; ' \" `",
    "\u202etxet\u202c",
]


@pytest.fixture
def manager(io_loop, server, visitor, demo):
    """Who manages the organization that the demo's application belongs to."""

    async def make():
        organization = await only(server.store, ORGANIZATIONS)
        return await new_caller(server, visitor, organization, "ORG_SETTINGS_MANAGER")

    return io_loop.run_sync(make)


def entry(name, text):
    return {"screen": name[0], "key": name[1], "text": text}


async def put(caller, *texts, path=OWN, language="en"):
    page = await caller.request(
        "PUT", path.format(language), {"texts": [entry(*each) for each in texts]}
    )
    assert page.status == 200, page.text
    return page


async def login_page(visitor, demo, **more):
    page = await visitor.open(demo.authorize_url(**more))
    assert page.name == "login-name", page.text
    return page


async def test_a_text_is_on_the_page_in_its_language_alone(visitor, demo, manager):
    await put(manager, (TITLE, "Come in"), (ASKING, "on the way to %(application)s"))
    english = await login_page(visitor, demo)
    german = await login_page(visitor, demo, ui_locales="de")

    assert "<h1>Come in</h1>" in english.text
    assert "<title>Come in – " in english.text
    assert "on the way to Demo application" in text_of(english)
    assert "Come in" not in german.text


async def test_what_an_organization_says_counts_before_the_installation_s_text_by_text(
    visitor, demo, owner, manager
):
    await put(owner, (TITLE, "Everybody"), (ASKING, "hence to %(application)s"), path=ALL)
    await put(manager, (TITLE, "Come in"))
    page = await login_page(visitor, demo)
    reset = await manager.request("DELETE", OWN.format("en"), None)
    after = await login_page(visitor, demo)

    assert "<h1>Come in</h1>" in page.text
    assert "hence to Demo application" in text_of(page)
    assert reset.status == 200
    assert "<h1>Everybody</h1>" in after.text


async def test_one_organization_s_words_are_none_of_another_s(server, visitor, demo, manager):
    other = await new_organization(server, "other.example")
    neighbour = await new_caller(server, visitor, other, "ORG_OWNER")
    await put(neighbour, (TITLE, "Theirs"))

    assert "Theirs" not in (await login_page(visitor, demo)).text
    found = (await manager.get(OWN.format("en"))).json()
    assert found["isDefault"]
    assert "texts" not in found["customText"]


async def test_what_is_set_is_read_again_and_so_are_the_defaults(owner, manager):
    await put(owner, (TITLE, "Alle"), path=ALL, language="de")
    await put(manager, (TITLE, "Herein"), language="de")
    own = (await manager.get(OWN.format("de"))).json()
    usual = (await manager.get(USUAL.format("de"))).json()["texts"]
    built = (await owner.get("/admin/v1/text/default/login/de")).json()["texts"]

    assert own["customText"]["texts"] == [entry(TITLE, "Herein")]
    assert "isDefault" not in own
    assert entry(TITLE, "Alle") in usual
    assert entry(TITLE, "Anmelden") in built
    assert len(usual) == len(built) == len(built_in("de"))


@pytest.mark.parametrize("text", HOSTILE)
async def test_a_text_never_becomes_markup(visitor, demo, manager, text):
    await put(manager, (TITLE, text), (ASKING, text + "%(application)s"))
    page = await login_page(visitor, demo)
    seen = Seen(page)

    assert text in text_of(page)
    assert [one for one in seen.all("svg") if one.get("class") != "icon"] == []
    assert all(one.get("src") for one in seen.all("script"))
    assert not any("onerror" in one for one in seen.all("img"))


@pytest.mark.parametrize(
    ("name", "text", "error_code"),
    [
        (ASKING, "to continue", "login_text.placeholders"),
        (ASKING, "%(application)s %(application)s", "login_text.placeholders"),
        (ASKING, "%(other)s", "login_text.placeholders"),
        (ASKING, "%(application)s %(other)s", "login_text.placeholders"),
        (ASKING, "%(application)d", "login_text.placeholders"),
        (ASKING, "100 % %(application)s", "login_text.placeholders"),
        (ASKING, "%(application)", "login_text.placeholders"),
        (TITLE, "%(application)s", "login_text.placeholders"),
        (TITLE, "100 %", "login_text.placeholders"),
        (TITLE, "%s", "login_text.placeholders"),
    ],
)
async def test_a_text_has_the_placeholders_of_the_one_that_it_replaces(
    server, manager, name, text, error_code
):
    before = await everything(server.store)
    body = {"texts": [entry(TITLE, "Fine"), entry(name, text)]}
    page = await manager.request("PUT", OWN.format("en"), body)

    assert refused(page, 400, 3)["texts[1].text"] == error_code
    assert await everything(server.store) == before


async def test_what_is_no_text_of_the_pages_is_refused(server, manager):
    before = await everything(server.store)
    path = OWN.format("en")
    bad = {
        "texts[0].key": [
            ({**entry(TITLE, "x"), "key": "Sign out"}, "login_text.not_found"),
            ({**entry(TITLE, "x"), "screen": "console"}, "login_text.not_found"),
            (entry(("console", "Save"), "x"), "login_text.not_found"),
            (
                entry(("page", "Too many attempts. Try again in %(n)s second."), "%(n)s"),
                "login_text.not_found",
            ),
        ],
        "texts[0].text": [
            (entry(TITLE, ""), "field.empty"),
            (entry(TITLE, "x" * 1001), "field.too_long"),
            (entry(TITLE, "a\nb"), "field.characters"),
            ({**entry(TITLE, "x"), "text": 1}, "field.wrong_type"),
        ],
    }
    for field, samples in bad.items():
        for sample, error_code in samples:
            page = await manager.request("PUT", path, {"texts": [sample]})
            assert refused(page, 400, 3) == {field: error_code}, sample
    twice = {"texts": [entry(TITLE, "x"), entry(TITLE, "y")]}
    many = {"texts": [entry(TITLE, "x")] * (MAX_TEXTS + 1)}
    assert refused(await manager.request("PUT", path, twice), 400, 3) == {
        "texts": "login_text.repeated"
    }
    assert refused(await manager.request("PUT", path, many), 400, 3) == {"texts": "field.too_many"}
    assert refused(await manager.request("PUT", OWN.format("xx"), {"texts": []}), 404, 5)
    assert await everything(server.store) == before


async def test_the_console_s_pages_keep_their_words(visitor, demo, owner):
    await put(owner, (("page", "Language"), "Tongue"), path=ALL)

    assert "Tongue" in (await login_page(visitor, demo)).text
    assert "Tongue" not in (await visitor.open("/openapi")).text


def test_the_screens_are_those_of_the_texts():
    contexts = {context for context, _ in i18n.singulars()}

    assert set(SCREENS) <= contexts
    assert not {"console", "policies", "explain", "error", "mail"} & set(SCREENS)


# Languages


def listed(page):
    return [one["hreflang"] for one in Seen(page).all("a") if "hreflang" in one]


async def test_the_switcher_lists_what_is_allowed_and_nothing_else_is_spoken(
    visitor, demo, manager
):
    allowed = {"allowedLanguages": ["de", "ar"], "defaultLanguage": "ar"}
    assert (await manager.post(address("language"), allowed)).status == 200
    page = await login_page(visitor, demo)
    asked = await login_page(visitor, demo, ui_locales="en de")
    forced = await visitor.open(asked.url + "&lang=en")
    wanted = await visitor.get(page.url, headers={"Accept-Language": "en, de;q=0.5"})

    assert listed(page) == ["ar", "de"]
    assert '<html lang="ar" dir="rtl">' in page.text
    for one in (asked, forced, wanted):
        assert '<html lang="de"' in one.text


@pytest.mark.promise("authorization: ui_locales")
async def test_the_organization_s_default_counts_where_nobody_says_anything_else(
    server, visitor, demo, owner, manager
):
    await owner.request("PUT", address("language", "admin"), {"defaultLanguage": "ar"})
    inherited = await login_page(visitor, demo)
    await manager.post(address("language"), {"defaultLanguage": "de"})
    own = await login_page(visitor, demo)
    asked = await login_page(visitor, demo, ui_locales="en")
    gone = await visitor.open("/ui/login?flow=gone")

    assert '<html lang="ar"' in inherited.text
    assert '<html lang="de"' in own.text
    assert '<html lang="en"' in asked.text
    assert '<html lang="ar"' in gone.text


@pytest.mark.parametrize(
    ("policy", "wrong"),
    [
        ({"defaultLanguage": "xx"}, {"defaultLanguage": "language.not_shipped"}),
        ({"defaultLanguage": "DE"}, {"defaultLanguage": "language.not_shipped"}),
        ({"allowedLanguages": ["de", ""]}, {"allowedLanguages[1]": "language.not_shipped"}),
        (
            {"allowedLanguages": ["de"], "defaultLanguage": "en"},
            {"defaultLanguage": "language.not_allowed"},
        ),
        ({"allowedLanguages": ["de"] * 101}, {"allowedLanguages": "field.too_many"}),
    ],
)
async def test_languages_that_pages_can_not_have_are_refused(server, manager, policy, wrong):
    before = await everything(server.store)
    page = await manager.post(address("language"), policy)

    assert refused(page, 400, 3) == wrong
    assert await everything(server.store) == before


async def test_another_process_s_words_are_seen_after_five_seconds(server, visitor, demo, manager):
    await login_page(visitor, demo)
    cache = server.service.settings_cache
    forget, cache.forget = cache.forget, lambda: None
    try:
        await put(manager, (TITLE, "Come in"))
    finally:
        cache.forget = forget
    stale = await login_page(visitor, demo)
    server.clock.advance(timedelta(seconds=6))
    fresh = await login_page(visitor, demo)

    assert "Come in" not in stale.text
    assert "Come in" in fresh.text
