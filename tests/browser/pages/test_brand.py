"""An organization's colours and links, as Chromium draws them: in both schemes and directions."""

import base64

import httpx
import pytest

from tests.browser.pages.looking import NARROW, barriers, overflows
from tests.support.pictures import encoded
from tests.support.samples.policies import FULL, address

BUTTON = "getComputedStyle(document.querySelector('main [data-kind=primary]')).backgroundColor"


@pytest.fixture
def branded(program):
    """The installation with colours and links of its own, for one test."""
    token = (program.directory / "admin.pat").read_text().strip()
    headers = {"Authorization": f"Bearer {token}"}

    def put(name, body):
        url = program.issuer + address(name, "admin")
        assert httpx.put(url, json=body, headers=headers).status_code == 200

    def draw(picture, **how):
        url = f"{program.issuer}/admin/v1/policies/label/{picture}"
        content = base64.b64encode(encoded(**how)).decode()
        assert httpx.put(url, json={"content": content}, headers=headers).status_code == 200

    draw("logo", size=(800, 200), colour=(122, 31, 61))
    draw("logo_dark", size=(800, 200), colour=(255, 179, 199))
    draw("icon", size=(64, 64))
    privacy = FULL["privacy"] | {"supportEmail": "help@shop.example"}
    for name, body in (("label", FULL["label"]), ("privacy", privacy)):
        put(name, body)
    yield
    for name in ("label", "privacy"):
        put(name, {})
    for picture in ("logo", "logo_dark", "icon"):
        url = f"{program.issuer}/admin/v1/policies/label/{picture}"
        assert httpx.delete(url, headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("scheme", "locale", "colour"),
    [("light", "ar", "rgb(122, 31, 61)"), ("dark", "en", "rgb(255, 179, 199)")],
)
def test_a_page_has_the_colours_and_no_barriers(new_person, branded, scheme, locale, colour):
    person = new_person(locale=locale, color_scheme=scheme, viewport=NARROW)
    person.go("/demo/sign-in")

    assert person.page.evaluate(BUTTON) == colour
    assert not overflows(person.page)
    assert barriers(person.page) == []
    assert person.page.locator("footer .links a").count() == 5
    logo = person.page.locator("header img")
    assert logo.evaluate("one => [one.complete, one.naturalWidth, one.clientWidth]") == [
        True,
        400,
        192,
    ]
    assert "/ui/brand/" in logo.evaluate("one => one.currentSrc")
    dark = person.page.locator("header source").get_attribute("srcset")
    assert (dark in logo.evaluate("one => one.currentSrc")) == (scheme == "dark")
    person.fill(loginName="demo")
    person.press("Continue")
    person.fill(password="wrong")
    person.press("Sign in")
    assert person.page.locator(".problem p").count() == 1
    assert barriers(person.page) == []
