"""The language of the pages: the switcher, the application, an earlier choice, the browser."""

from urllib.parse import parse_qsl

import pytest

from idp.foundation import i18n, pseudo_locale
from tests.support.sign_in.steps import Seen, at_password, text_of


def language_of(page):
    """The page's language, as its header, its `<html>` and its texts agree on."""
    html = Seen(page).one("html")
    assert page.headers["Content-Language"] == html["lang"]
    assert page.headers["Vary"] == "Accept-Language, Cookie"
    assert html["dir"] == i18n.direction(html["lang"])
    return html["lang"]


def menu_of(page):
    """The links of the language menu."""
    return [link for link in Seen(page).all("a") if "hreflang" in link]


def query_of(page):
    """What the links of the language menu keep of the address."""
    link = next(link["href"] for link in menu_of(page) if link["hreflang"] == "de")
    return {name: value for name, value in parse_qsl(link.removeprefix("?")) if name != "lang"}


async def switch(visitor, page, tag):
    """Follow the link of the language menu."""
    address = page.url.split("?")[0]
    answer = await visitor.get(address, params={**query_of(page), "lang": tag})
    return await visitor.follow(answer)


@pytest.mark.promise("authorization: ui_locales")
@pytest.mark.parametrize(
    ("ui_locales", "accept", "tag"),
    [
        (None, None, "en"),
        (None, "de", "de"),
        (None, "de-AT-u-rg-chzzzz", "de"),
        (None, "eo;q=1, de;q=0.5, en;q=0.4", "de"),
        (None, "de;q=0, en;q=0.1", "en"),
        (None, "xx, *;q=0.5", "en"),
        ("de", "en", "de"),
        ("xx de en", "en", "de"),
        ("DE_de", "en", "de"),
        ("xx", "de", "de"),
        ('"><svg> ;;; ,,,', "de;q=x, ;;q=, =,", "en"),
        ("x" * 2000, "de," * 500, "de"),
    ],
)
async def test_the_application_is_asked_before_the_browser(visitor, demo, ui_locales, accept, tag):
    headers = {"Accept-Language": accept} if accept else {}
    visitor.http.headers.update(headers)
    page = await visitor.open(demo.authorize_url(ui_locales=ui_locales))

    assert language_of(page) == tag


async def test_the_language_stays_through_all_pages_of_a_sign_in(visitor, demo, server):
    page = await visitor.open(demo.authorize_url(ui_locales="de"))
    tags = [language_of(page)]
    page = await visitor.submit(page, loginName="")
    tags.append(language_of(page))
    assert "Geben Sie Ihre E-Mail-Adresse oder Ihren Benutzernamen ein." in text_of(page)
    page = await visitor.submit(page, loginName="demo")
    tags.append(language_of(page))
    page = await visitor.submit(page, password="wrong")
    tags.append(language_of(page))

    assert tags == ["de"] * 4


async def test_the_switcher_is_obeyed_and_remembered(visitor, demo):
    page = await visitor.open(demo.authorize_url(ui_locales="en"))
    german = await switch(visitor, page, "de")
    assert (language_of(german), german.name) == ("de", "login-name")
    assert "lang=" not in german.url
    password = await visitor.submit(german, loginName="demo")
    assert language_of(password) == "de"
    english = await switch(visitor, password, "en")

    assert (language_of(english), english.name) == ("en", "password")
    assert english.inputs["loginName"] == "demo"


async def test_a_choice_is_a_hint_for_later_visits(visitor, demo):
    page = await visitor.open(demo.authorize_url())
    await switch(visitor, page, "ar")
    visitor.http.headers["Accept-Language"] = "en"
    later = [
        await visitor.open(demo.authorize_url()),
        await visitor.open(demo.authorize_url(ui_locales="de")),
        await visitor.get("/nowhere", headers={"Accept": "text/html"}),
    ]

    assert [language_of(page) for page in later] == ["ar", "de", "ar"]


async def test_a_choice_is_remembered_from_a_page_without_a_sign_in(visitor):
    await visitor.get("/ui/login?lang=ar-EG")

    assert visitor.cookies["idp_language"] == "ar"
    assert language_of(await visitor.get("/demo")) == "ar"


@pytest.mark.parametrize(
    ("query", "headers"),
    [
        ("", {}),
        ("?lang=xx", {}),
        ("?lang=de&lang=ar", {}),
        ("?lang=de", {"Sec-Fetch-Site": "cross-site"}),
        ("?lang=de", {"Origin": "https://evil.example"}),
    ],
)
async def test_nothing_but_a_persons_own_choice_is_remembered(visitor, query, headers):
    page = await visitor.get("/ui/login" + query, headers=headers)

    assert "Set-Cookie" not in page.headers


@pytest.mark.parametrize("value", ["xx", "", '"><svg>', "x" * 5000])
async def test_a_remembered_language_that_nobody_speaks_is_passed_over(visitor, value):
    headers = {"Cookie": f"idp_language={value}", "Accept-Language": "de"}
    page = await visitor.get("/ui/login", headers=headers)

    assert language_of(page) == "de"


async def test_the_pseudo_locale_can_be_asked_for_and_is_offered_to_nobody(visitor, demo):
    page = await visitor.open(demo.authorize_url(ui_locales="en-XA"))
    told = (await visitor.get("/.well-known/openid-configuration")).json()

    assert language_of(page) == "en-XA"
    assert [one["hreflang"] for one in menu_of(page)] == list(i18n.available())
    assert told["ui_locales_supported"] == list(i18n.available())
    assert pseudo_locale.TAG not in i18n.available()


@pytest.mark.parametrize("tag", ["", "xx", "\0", "x" * 3000, '"><svg>', "é"])
async def test_a_language_that_nobody_speaks_changes_nothing(visitor, demo, tag):
    page = await visitor.open(demo.authorize_url(ui_locales="de"))
    again = await switch(visitor, page, tag)

    assert (again.status, again.name, language_of(again)) == (200, "login-name", "de")


async def test_a_language_sent_twice_is_refused(visitor, demo):
    page = await visitor.open(demo.authorize_url())
    refused = await visitor.get(page.url + "&lang=de&lang=en")

    assert (refused.status, refused.name) == (400, "error")


async def test_what_was_chosen_before_counts_after_a_tab_has_finished(visitor, demo, server):
    page = await at_password(visitor, demo, "demo")
    await visitor.submit(page, password=server.user[1])
    late = await switch(visitor, page, "de")

    assert (late.status, late.name, language_of(late)) == (410, "expired", "de")


@pytest.mark.parametrize(
    "address",
    [
        "/ui/login",
        "/ui/logged-out?client_id={client_id}",
        "/ui/login?flow=unknown&client_id={client_id}",
        "/ui/reset?key=unknown&start=unknown",
        "/ui/logout?request=unknown",
        "/oauth/v2/authorize?client_id={client_id}&redirect_uri=https://evil.example/",
        "/nowhere?a=b",
        "/demo",
    ],
)
async def test_pages_without_a_sign_in_change_their_language_too(visitor, demo, address):
    headers = {"Accept": "text/html"}
    page = await visitor.get(address.format(client_id=demo.client_id), headers=headers)
    german = await visitor.get(
        page.url.split("?")[0], params={**query_of(page), "lang": "de"}, headers=headers
    )

    assert (language_of(page), language_of(german)) == ("en", "de")
    assert (german.status, german.name) == (page.status, page.name)
    assert query_of(german) == query_of(page)


async def test_the_switcher_offers_each_language_in_itself(visitor, demo):
    page = await visitor.open(demo.authorize_url())

    assert [one["hreflang"] for one in menu_of(page)] == list(i18n.available())
    assert ">Deutsch</a>" in page.text


class TestOfAnotherDefault:
    @pytest.fixture
    def settings(self):
        return {"default_language": "de"}

    async def test_the_operators_language_is_the_default(self, visitor, demo):
        assert language_of(await visitor.open(demo.authorize_url())) == "de"

    async def test_who_prefers_another_gets_it(self, visitor, demo):
        visitor.http.headers["Accept-Language"] = "en"

        assert language_of(await visitor.open(demo.authorize_url())) == "en"


async def test_a_language_written_from_right_to_left_turns_the_page(visitor, demo):
    page = await visitor.open(demo.authorize_url(ui_locales="ar-SA"))
    password = await visitor.submit(page, loginName="demo")

    assert [language_of(each) for each in (page, password)] == ["ar", "ar"]
    assert Seen(password).one("html")["dir"] == "rtl"


@pytest.mark.parametrize(
    ("path", "tag", "name"),
    [("account", "en", "Account"), ("account", "de", "Konto"), ("console", "ar", "وحدة التحكم")],
)
async def test_a_sign_in_to_the_own_pages_calls_them_in_its_language(visitor, path, tag, name):
    visitor.http.headers["Accept-Language"] = tag

    page = await visitor.open(f"/ui/{path}")

    assert 'class="asking"' not in page.text  # it is no application that asks
    assert f"– {name}</title>" in page.text
