"""Programs of presets for libraries, and applications that `idp app create` registers without a
preset."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from idp.clients import presets
from tests.interop import node
from tests.interop.npm_party import Party, meet, signed_in
from tests.interop.running import Running, free_port
from tests.interop.test_preset_programs import (
    SECRETS,
    begin,  # noqa: F401
    callback_of,
    is_signed_in,
)
from tests.support import patience
from tests.support.programs import go_tools
from tests.support.programs import program as processes
from tests.support.protocol.relying_party import RelyingParty

GO = Path(__file__).parent / "go"
# What the guides for Django take for granted.
DJANGO = """
import os

SECRET_KEY = os.environ["SECRET_KEY"]
ALLOWED_HOSTS = ["localhost"]
ROOT_URLCONF = "urls"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {"context_processors": ["django.template.context_processors.request"]},
    }
]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "db.sqlite3"}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
"""
URLS = """
from django.contrib.auth import logout
from django.http import HttpResponse
from django.urls import include, path


def home(request):
    is_known = request.user.is_authenticated
    return HttpResponse(f"Hello {{request.user.email}}" if is_known else "Sign in")


urlpatterns = [path("", home), {line}]
"""
LINES = {
    "allauth": 'path("accounts/", include("allauth.urls"))',
    "social-auth": 'path("", include("social_django.urls", namespace="social"))',
}
# The page at which a sign-in begins, and how.
PROGRAMS = {
    "passport": ("GET", "/login"),
    "go": ("GET", "/login"),
    "allauth": ("POST", "/accounts/oidc/idp/login/"),
    "social-auth": ("POST", "/login/oidc/"),
}
every_program = pytest.mark.parametrize("name", PROGRAMS)
OTHERS = {"node": ("GET", "/login"), "flask-oidc": ("GET", "/login")}
FLASK = """
import os

from flask import Flask, session
from flask_oidc import OpenIDConnect

app = Flask(__name__)
app.config |= {{
    "SECRET_KEY": os.environ["SECRET_KEY"],
    "OIDC_CLIENT_SECRETS": {{
        "web": {{
            "client_id": "{client_id}",
            "client_secret": os.environ["CLIENT_SECRET"],
            "issuer": "{issuer}",
        }}
    }},
    "OIDC_SERVER_METADATA_URL": "{issuer}/.well-known/openid-configuration",
    "OIDC_SCOPES": "openid profile email",
}}
oidc = OpenIDConnect(app)


@app.get("/")
def home():
    name = session.get("oidc_auth_profile", {{}}).get("sub")
    return f"Hello {{name}}" if oidc.user_loggedin else "Sign in"


app.run(host="localhost", port={port})
"""


@pytest.fixture
def start(tmp_path, request):
    """Starts the program of a preset."""
    started = []

    def run(name: str, text: str, secret: str, port: int) -> Running:
        environment = os.environ | SECRETS | {"CLIENT_SECRET": secret}
        started.append(STARTS[name](request, tmp_path, text, environment, port))
        return started[-1]

    yield run
    for one in started:
        one.stop()
    shutil.rmtree(tmp_path, ignore_errors=True)


def _django(name: str):
    def run(request, directory: Path, text: str, environment: dict, port: int) -> Running:
        (directory / "settings.py").write_text(DJANGO + text, encoding="utf-8")
        (directory / "urls.py").write_text(URLS.format(line=LINES[name]), encoding="utf-8")
        environment |= {"DJANGO_SETTINGS_MODULE": "settings", "PYTHONPATH": str(directory)}
        django = [sys.executable, "-m", "django"]
        _done([*django, "migrate", "--verbosity=0"], directory, environment)
        command = [*django, "runserver", "--noreload", f"localhost:{port}"]
        return Running(command, directory, environment)

    return run


def _node(file: str):
    def run(request, directory: Path, text: str, environment: dict, port: int) -> Running:
        found, packages = request.getfixturevalue("npm")
        (directory / file).write_text(text, encoding="utf-8")
        (directory / "node_modules").symlink_to(packages / "node_modules")
        return Running(
            [str(found.program), file], directory, node.environment(found) | environment
        )

    return run


def _go(request, directory: Path, text: str, environment: dict, port: int) -> Running:
    for file in GO.iterdir():
        shutil.copy(file, directory)
    (directory / "main.go").write_text(text, encoding="utf-8")
    _done([go_tools.find(), "build", "-o", "app", "."], directory, environment)
    return Running([str(directory / "app")], directory, environment)


def _flask(request, directory: Path, text: str, environment: dict, port: int) -> Running:
    (directory / "app.py").write_text(text, encoding="utf-8")
    return Running([sys.executable, "app.py"], directory, environment)


STARTS = {
    "passport": _node("server.js"),
    "node": _node("server.mjs"),
    "go": _go,
    "flask-oidc": _flask,
} | {name: _django(name) for name in LINES}


def _done(command: list[str], directory: Path, environment: dict) -> None:
    ran = subprocess.run(
        command,
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=patience.SECONDS,
    )
    assert ran.returncode == 0, ran.stderr


class Login:
    """A browser of an application, of which each sign-in begins by this method."""

    def __init__(self, own, method: str) -> None:
        self.base_url = own.base_url
        self._own, self._method = own, method

    async def get(self, path: str):
        return await self._own.request(self._method, path)


async def signs_in(place, person, own, name: str) -> None:
    method, login = (PROGRAMS | OTHERS)[name]
    callback = await callback_of(place, person, Login(own, method), login)
    finished = await own.get(callback)
    assert finished.status_code in (302, 303), finished.text


@every_program
async def test_a_person_signs_in_to_the_program_of_a_library(
    place,
    open_browser,
    begin,  # noqa: F811
    name,
):
    _, browser = await begin(name)
    own, other = browser(), browser()
    was_signed_in = await is_signed_in(own)
    await signs_in(place, open_browser(place), own, name)

    assert not was_signed_in
    assert await is_signed_in(own)
    assert not await is_signed_in(other)


@every_program
async def test_a_callback_in_another_browser_does_not_sign_in_to_the_program_of_a_library(
    place,
    open_browser,
    begin,  # noqa: F811
    name,
):
    method, login = PROGRAMS[name]
    _, browser = await begin(name)
    own, other = browser(), browser()
    callback = await callback_of(place, open_browser(place), Login(own, method), login)
    await other.get(callback)

    assert not await is_signed_in(other)


@pytest.mark.parametrize("name", ["passport", "go"])
async def test_who_signs_out_of_the_program_of_a_library_is_signed_out_of_the_service(
    place,
    open_browser,
    begin,  # noqa: F811
    name,
):
    _, browser = await begin(name)
    own, person = browser(), open_browser(place)
    await signs_in(place, person, own, name)
    sent = await own.post("/logout")
    back = await person.open(sent.headers["Location"])
    asked = await person.open((await own.get("/login")).headers["Location"])

    assert not await is_signed_in(own)
    assert back.location == f"{own.base_url}/"
    assert asked.name == "login-name"


@pytest.mark.parametrize("name", PROGRAMS | OTHERS)
async def test_an_application_of_a_plain_app_create_signs_people_in(
    place, service, open_browser, start, tmp_path, name
):
    """Only a name and the redirect URIs: neither a preset nor an option for the library."""
    port = free_port()
    host = f"localhost:{port}"
    is_preset = name in presets.PRESETS
    own_uri = {"redirectUris": [f"http://{host}/authorize"]}
    app = await created(service, tmp_path, presets.expand(name, host) if is_preset else own_uri)
    values = {"issuer": place.issuer, "client_id": app["clientId"]}
    text = (
        presets.configuration(name, **values, host=host)
        if is_preset
        else FLASK.format(**values, port=port)
    )
    running = start(name, text, app["clientSecret"], port)
    running.wait_for(port)
    async with httpx.AsyncClient(
        base_url=f"http://localhost:{port}", timeout=patience.SECONDS
    ) as own:
        await signs_in(place, open_browser(place), own, name)

        assert await is_signed_in(own)


async def test_openid_client_refreshes_and_signs_out_with_an_application_of_a_plain_app_create(
    place, service, open_browser, npm, tmp_path
):
    redirect_uri, goodbye = "https://shop.example/callback", "https://shop.example/"
    addresses = {"redirectUris": [redirect_uri], "postLogoutRedirectUris": [goodbye]}
    app = await created(service, tmp_path, addresses, "authorization-code", "refresh-token")
    client = RelyingParty(place.issuer, app["clientId"], app["clientSecret"], redirect_uri)
    party, browser = Party(*npm, "openid_client.js"), open_browser(place)
    await meet(place, party, client)
    tokens = (await party.call("callback", url=await signed_in(place, party, browser, client)))[
        "tokens"
    ]
    refreshed = await party.call("refresh", refreshToken=tokens["refresh_token"])
    out = await party.call(
        "endSession",
        id_token_hint=refreshed["tokens"]["id_token"],
        post_logout_redirect_uri=goodbye,
    )
    left = await browser.open(out)
    asked = await browser.open(client.authorize_url())
    party.close()

    assert refreshed["tokens"]["access_token"] != tokens["access_token"]
    assert left.location == goodbye
    assert asked.name == "login-name"


async def created(service, directory: Path, addresses: dict, *grant_types: str) -> dict:
    """What `idp app create` answers to a name, these addresses and grant types."""
    token = (service.directory / "admin.pat").read_text().strip()
    remote = {"IDP_URL": service.issuer, "IDP_TOKEN": token}

    async def told(*words: str) -> dict:
        ran = await asyncio.to_thread(
            processes.run, directory, *words, "--format", "json", **remote
        )
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    project = (await told("project", "create", "--name", "Plain"))["id"]
    options = [("--redirect-uri", each) for each in addresses["redirectUris"]]
    options += [
        ("--post-logout-redirect-uri", each)
        for each in addresses.get("postLogoutRedirectUris", [])
    ]
    options += [("--grant-type", each) for each in grant_types]
    words = [word for option in options for word in option]
    return await told("app", "create", "--project", project, "--name", "Plain", *words)
