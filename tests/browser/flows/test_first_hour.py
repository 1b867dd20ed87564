"""The first hour of an administrator, page by page: from an empty directory to an application that
was made by the preset of Grafana, and to which a client with exactly its settings signs in."""

from __future__ import annotations

import configparser
from contextlib import closing
from urllib.parse import urlsplit

import pytest
from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session

from tests.browser.pages.looking import NARROW, WIDE, look_again, overflows
from tests.browser.person import Person
from tests.support.programs.program import Program

OWN_PASSWORD = "a long and quiet afternoon"
ANNAS = "a short and noisy morning"
deep = pytest.mark.load


class Hour:
    """A person at the console; whatever page they come to is looked at."""

    def __init__(self, person, looker, scheme, size):
        self.person, self.looker, self.seen = person, looker, []
        self.circumstances = {"scheme": scheme, "size": size, "with_script": person.has_scripts}
        person.page.on("response", self._keep)

    def _keep(self, response):
        if response.request.is_navigation_request() and response.status < 300:
            self.html = response.text()

    def look(self):
        page = self.person.page
        assert not overflows(page), page.url
        assert look_again(self.looker, page.url, self.html, **self.circumstances) == [], page.url
        self.seen.append(urlsplit(page.url).path)

    def go(self, path):
        self.person.go(path)
        self.look()

    def fill(self, **fields):
        """`__` stands for the dot in a field's name; a secret of the form is typed like any."""
        for name, value in fields.items():
            self.person.page.fill(f'[name="{name.replace("__", ".")}"]', value)

    def press(self, text):
        self.person.press(text)
        self.look()

    def choose(self, selector):
        """Follow a link that no text of ours names: that of a tool."""
        with self.person.page.expect_navigation():
            self.person.page.click(selector)
        self.look()


@pytest.fixture
def started(tmp_path):
    """A service in an empty directory."""
    program = Program(tmp_path).start()
    yield program
    program.stop()


@pytest.fixture
def hour(chromium, started, looker, how):
    scripts, scheme, locale, size = how
    person = Person(
        chromium, started, scripts=scripts, color_scheme=scheme, locale=locale, viewport=size
    )
    with closing(person.context):
        yield Hour(person, looker, scheme, size)
        assert person.complaints == []


@pytest.mark.parametrize(
    "how",
    [
        (False, "light", "en", NARROW),
        pytest.param((True, "dark", "en", WIDE), marks=deep),
        pytest.param((False, "dark", "ar", NARROW), marks=deep),
        pytest.param((True, "light", "ar", WIDE), marks=deep),
    ],
)
def test_an_application_by_preset_is_signed_in_to(hour, started, other_site):
    begin(hour, started.announcement["admin"])
    make_organization(hour)
    make_person(hour)
    grafana = make_application(hour, urlsplit(other_site.redirect_uri).netloc)
    claims = sign_in(hour, other_site, grafana)

    assert claims["email"] == "anna@example.com"
    assert claims["name"] == "Anna Owner"
    assert len(set(hour.seen)) > 8


def begin(hour, admin):
    hour.go("/ui/console")
    hour.fill(loginName=admin["loginName"])
    hour.press("Continue")
    hour.fill(password=admin["password"])
    hour.press("Sign in")
    hour.fill(newPassword=OWN_PASSWORD)
    hour.press("Save the new password")


def make_organization(hour):
    hour.press("Create an organization")
    hour.fill(org__name="Acme", human__userName="otto", human__password=ANNAS)
    hour.fill(human__profile__firstName="Otto", human__profile__lastName="Owner")
    hour.fill(human__email__email="otto@example.com")
    hour.press("Create the organization")


def make_person(hour):
    hour.go("/ui/console/users")
    hour.press("New user")
    hour.fill(profile__givenName="Anna", profile__familyName="Owner", username="anna")
    hour.fill(email__email="anna@example.com")
    hour.person.page.locator("details:has([name='password.password']) > summary").click()
    hour.fill(password__password=ANNAS)
    hour.press("Create the user")


def make_application(hour, host):
    """What the result page says is to be written into grafana.ini, and the secret."""
    hour.go("/ui/console/applications/new")
    hour.choose('a[href*="kind=web"]')
    hour.choose('a[href*="preset=grafana"]')
    hour.fill(host=host)
    hour.press("Create the application")

    def told(name):
        return hour.person.page.locator(f"pre[aria-labelledby={name}]").inner_text()

    ini = configparser.RawConfigParser()
    ini.read_string(told("configuration"))
    settings = dict(ini["auth.generic_oauth"])
    assert settings["client_secret"] == "$__env{CLIENT_SECRET}"
    return settings | {
        "client_secret": told("secret").strip(),
        "root_url": ini["server"]["root_url"],
    }


def sign_in(hour, site, grafana):
    """The claims that Grafana reads, after Anna has signed in there as Grafana asks for it."""
    callback = grafana["root_url"] + "login/generic_oauth"
    client = OAuth2Session(
        grafana["client_id"],
        grafana["client_secret"],
        scope=grafana["scopes"],
        redirect_uri=callback,
        token_endpoint_auth_method="client_secret_basic",
        code_challenge_method="S256",
    )
    verifier = generate_token(48)
    with closing(client):
        url, state = client.create_authorization_url(grafana["auth_url"], code_verifier=verifier)
        hour.person.context.clear_cookies()
        hour.person.page.goto(url)
        hour.fill(loginName="anna")
        hour.person.press("Continue")
        hour.fill(password=ANNAS)
        hour.person.press("Sign in")
        hour.fill(newPassword=OWN_PASSWORD)
        hour.person.press("Save the new password")
        (answer,) = (each for each in site.seen if "/login/generic_oauth" in each)
        site.seen.clear()
        client.fetch_token(
            grafana["token_url"],
            authorization_response=f"{callback}?{urlsplit(answer).query}",
            state=state,
            code_verifier=verifier,
        )
        return client.get(grafana["api_url"]).json()
