"""An organization's colours and links, as Chromium draws them: in both schemes and directions."""

import httpx
import pytest

from tests.browser.looking import NARROW, barriers, overflows
from tests.support.samples.policies import FULL, address

BUTTON = "getComputedStyle(document.querySelector('main button')).backgroundColor"


@pytest.fixture
def branded(program):
    """The installation with colours and links of its own, for one test."""
    token = (program.directory / "admin.pat").read_text().strip()
    headers = {"Authorization": f"Bearer {token}"}

    def put(name, body):
        url = program.issuer + address(name, "admin")
        assert httpx.put(url, json=body, headers=headers).status_code == 200

    privacy = FULL["privacy"] | {"supportEmail": "help@shop.example"}
    for name, body in (("label", FULL["label"]), ("privacy", privacy)):
        put(name, body)
    yield
    for name in ("label", "privacy"):
        put(name, {})


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
    person.fill(loginName="demo")
    person.press("Continue")
    person.fill(password="wrong")
    person.press("Sign in")
    assert person.page.locator(".summary").count() == 1
    assert barriers(person.page) == []
