"""The first tasks of an administrator, each within a number of clicks from the console's first
page; what is typed is not counted."""

from __future__ import annotations

import itertools
import re

import httpx
import pytest

from tests.browser import states
from tests.browser.person import Person
from tests.support.patience import eventually
from tests.support.pictures import encoded

NUMBERS = itertools.count()
DESKTOP = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 760}}
WAYS = [
    pytest.param({"scripts": True, **DESKTOP}, id="desktop"),
    pytest.param({"scripts": False, **PHONE}, id="phone without scripts"),
    pytest.param({"scripts": False, **DESKTOP}, id="without scripts", marks=pytest.mark.load),
    pytest.param({"scripts": True, **PHONE}, id="phone", marks=pytest.mark.load),
]
USER = {
    "profile.givenName": "Auth",
    "profile.familyName": "Guest",
    "email.email": "auth@zero.example",
}


class Clicks:
    """A person at the console's first page, whose clicks are counted."""

    def __init__(self, person: Person):
        self.person, self.page, self.number = person, person.page, 0
        person.go("/ui/console")

    def click(self, selector, text=None):
        target = self.page.locator(selector)
        (target.filter(has_text=text) if text else target).first.click()
        self.page.wait_for_load_state()
        self.number += 1

    def fill(self, **fields):
        for name, value in fields.items():
            self.page.fill(f'[name="{name}"]', value)

    def search(self, text):
        self.fill(q=text)
        self.click(".find button")

    @property
    def text(self):
        return self.page.locator("main").inner_text()


@pytest.fixture(params=WAYS)
def clicks(request, new_person, signed_in):
    return Clicks(new_person(storage_state=signed_in[states.ADMIN], **request.param))


@pytest.fixture
def api(program):
    """A client of the management API for the administrator's script."""
    token = (program.directory / "admin.pat").read_text().strip()
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=program.issuer, headers=headers) as client:
        yield client


@pytest.fixture
def reset(api):
    """After the test, the organization inherits its policies again."""
    yield
    for name in ("login", "label"):
        api.delete(f"/management/v1/policies/{name}")
    api.delete("/management/v1/policies/label/logo")


@pytest.fixture
def refused(api, chromium, program):
    """The surname of a user whose sign-in was refused, once the audit log has that."""
    surname = f"Zero{next(NUMBERS)}"
    user = {
        "profile": {"givenName": "Auth", "familyName": surname},
        "email": {"email": f"{surname.lower()}@zero.example", "isVerified": True},
        "password": {"password": "a long and quiet evening"},
    }
    made = api.post("/v2/users/human", json=user).json()
    person = Person(chromium, program)
    person.go("/demo/sign-in")
    person.sign_in(f"{surname.lower()}@zero.example", "wrong")
    person.context.close()
    query = {"aggregateId": made["userId"], "eventTypes": ["user.sign_in.failed"]}
    eventually(lambda: api.post("/admin/v1/events/_search", json=query).json().get("events"))
    return surname


def test_an_application_is_registered_and_its_client_id_seen(clicks):
    clicks.click("main .head a", "New application")
    clicks.click('main a[href*="kind=web"]')
    clicks.click('main a[href*="preset=grafana"]')
    clicks.fill(host="grafana.example")
    clicks.click("#step button[data-kind=primary]")

    assert re.search(r"client_id = \S+", clicks.text)
    assert clicks.number <= 5


def test_a_user_is_invited(clicks):
    address = f"auth{next(NUMBERS)}@zero.example"
    clicks.click("main .head a", "New user")
    clicks.fill(**{**USER, "email.email": address})
    clicks.click("#step button[data-kind=primary]")

    assert "Auth Guest" in clicks.text
    assert clicks.number <= 3


def test_why_a_user_could_not_sign_in_is_found_by_their_surname(refused, clicks):
    clicks.search(refused)
    clicks.click("main .hits a")
    clicks.click(".tabs a", "Activity")

    assert "was refused" in clicks.text
    assert "Cause: wrong password" in clicks.text
    assert clicks.number <= 3


def test_a_second_factor_is_required_in_an_organization(clicks, reset):
    clicks.search("require a second")
    clicks.click("main .hits a", "Require a second factor")
    clicks.click("[name=forceMfa]")
    clicks.click("#step button[data-kind=primary]")

    assert "Saved." in clicks.text
    assert clicks.number <= 4


def test_a_colour_and_a_logo_are_set_with_a_preview(clicks, reset):
    clicks.search("Branding")
    clicks.fill(primaryColor="#7a1f3d")
    shown = clicks.page.frame_locator("[name=preview]").locator("main [data-kind=primary]")
    shown.wait_for()
    clicks.click("#step button[data-kind=primary]")
    clicks.click('main a[href$="/pictures/logo"]')
    logo = {"name": "logo.png", "mimeType": "image/png", "buffer": encoded(size=(200, 50))}
    clicks.page.set_input_files("[name=content]", logo)
    clicks.click("#step button[data-kind=primary]")

    assert "Saved." in clicks.text
    assert clicks.number <= 4
