"""The program that a preset hands out is started as it stands, and a person signs in to it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from idp.clients import presets
from tests.interop import node
from tests.interop.running import Running, free_port
from tests.interop.test_presets import registered
from tests.support import guides, patience
from tests.support.browsers.visitor import Visitor

SECRETS = {"SECRET_KEY": "k" * 40, "SESSION_SECRET": "s" * 40}
PROGRAMS = [
    ("flask", "/auth/login"),
    ("django", "/oidc/authenticate/"),
    ("express", "/login"),
    ("node", "/login"),
]
# What the guide for Django takes for granted: a project, to whose settings its text is appended.
DJANGO = {
    "settings.py": """
import os

SECRET_KEY = os.environ["SECRET_KEY"]
ALLOWED_HOSTS = ["localhost"]
ROOT_URLCONF = "urls"
INSTALLED_APPS = [
    "django.contrib.auth",
    "mozilla_django_oidc",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "db.sqlite3"}}
LOGGING = {
    "version": 1,
    "handlers": {"printed": {"class": "logging.StreamHandler"}},
    "root": {"handlers": ["printed"]},
}
""",
    "urls.py": """
from django.http import HttpResponse
from django.urls import include, path


def home(request):
    is_known = request.user.is_authenticated
    return HttpResponse(f"Hello {request.user.email}" if is_known else "Sign in")


urlpatterns = [path("", home), path("oidc/", include("mozilla_django_oidc.urls"))]
""",
}
CLOCK = """
const real = Date.now, { readFileSync } = require('node:fs')
Date.now = () => real() + Number(readFileSync('ahead', 'utf8'))
"""


def new_project(directory: Path, environment: dict[str, str]) -> str:
    """Make a project of Django with its database; the settings that it begins with."""
    for name, text in DJANGO.items():
        (directory / name).write_text(text, encoding="utf-8")
    migrate = [sys.executable, "-m", "django", "migrate", "--verbosity=0"]
    subprocess.run(
        migrate,
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        check=True,
        timeout=patience.SECONDS,
    )
    return DJANGO["settings.py"]


@pytest.fixture
def start(tmp_path, request):
    """Starts the program of a preset. A program of Node has a clock that goes ahead by as many
    milliseconds as the file `ahead` beside it says."""
    started = []

    def begin(name: str, text: str, secret: str, port: int) -> Running:
        environment = os.environ | SECRETS | {"CLIENT_SECRET": secret}
        file = presets.find(name).file
        if name == "flask":
            directory, command = tmp_path, [sys.executable, file]
        elif name == "django":
            directory, command = tmp_path, [sys.executable, "-m", "django", "runserver"]
            command += ["--noreload", f"localhost:{port}"]
            environment |= {"DJANGO_SETTINGS_MODULE": "settings", "PYTHONPATH": str(tmp_path)}
            text = new_project(tmp_path, environment) + text
        else:
            found, packages = request.getfixturevalue("npm")
            directory, command = tmp_path / name, [str(found.program), "-r", "./clock.cjs", file]
            directory.mkdir()
            (directory / "clock.cjs").write_text(CLOCK)
            (directory / "ahead").write_text("0")
            (directory / "node_modules").symlink_to(packages / "node_modules")
            environment |= node.environment(found) | SECRETS | {"CLIENT_SECRET": secret}
        (directory / file).write_text(text, encoding="utf-8")
        started.append(Running(command, directory, environment))
        return started[-1]

    yield begin
    for one in started:
        one.stop()
    shutil.rmtree(tmp_path, ignore_errors=True)


@pytest.fixture
def begin(io_loop, place, api, start):
    """Registers and starts the program of a preset, after `change` of its text; a function that
    opens a new browser at it."""
    opened = []

    async def make(name: str, change=lambda text: text, host: str = "localhost"):
        port = free_port()
        made, text = await registered(place, api, name, f"{host}:{port}")
        running = start(name, change(text), made["clientSecret"], port)
        running.wait_for(port)

        def browser() -> httpx.AsyncClient:
            opened.append(
                httpx.AsyncClient(base_url=f"http://localhost:{port}", timeout=patience.SECONDS)
            )
            return opened[-1]

        return running, browser

    yield make
    for one in opened:
        io_loop.run_sync(one.aclose)


async def callback_of(place, person: Visitor, at_application, login: str) -> str:
    """Where the sign-in, which is begun at the application, sends the browser back to."""
    begun = await at_application.get(login)
    page = await person.sign_in(begun.headers["Location"], *place.user)
    assert page.location.startswith(str(at_application.base_url)), page.location
    back = urlsplit(page.location)
    return f"{back.path}?{back.query}"


async def is_signed_in(at_application) -> bool:
    text = (await at_application.get("/")).text
    assert ("Hello " in text) != ("Sign in" in text), text
    return "Hello " in text


@pytest.mark.parametrize(("name", "login"), PROGRAMS)
async def test_a_person_signs_in_to_the_program_of_a_preset(
    place, open_browser, begin, name, login
):
    _, browser = await begin(name)
    own = browser()
    was_signed_in = await is_signed_in(own)
    finished = await own.get(await callback_of(place, open_browser(place), own, login))

    assert not was_signed_in
    assert finished.status_code in (302, 303), finished.text
    assert await is_signed_in(own)


SIGN_OUTS = [
    ("flask", "/auth/login", "POST", "/auth/logout"),
    ("django", "/oidc/authenticate/", "POST", "/oidc/logout/"),
    ("express", "/login", "GET", "/logout"),
    ("node", "/login", "POST", "/logout"),
]


@pytest.mark.parametrize(("name", "login", "method", "logout"), SIGN_OUTS)
async def test_who_signs_out_of_the_program_of_a_preset_is_signed_out_of_the_service(
    place, open_browser, begin, name, login, method, logout
):
    _, browser = await begin(name)
    own, person = browser(), open_browser(place)
    await own.get(await callback_of(place, person, own, login))
    sent = await own.request(method, logout)
    back = await person.open(sent.headers["Location"])
    asked = await person.open((await own.get(login)).headers["Location"])

    assert not await is_signed_in(own)
    assert back.location == f"{own.base_url}/"
    assert asked.name == "login-name"


@pytest.mark.promise("security: programs")
@pytest.mark.parametrize(("name", "login"), PROGRAMS)
async def test_a_callback_that_is_opened_in_another_browser_does_not_sign_in(
    place, open_browser, begin, name, login
):
    """Login CSRF (RFC 6749 10.12): neither a browser without cookies is signed in, nor one that
    has begun a sign-in of its own, and the browser that has begun this one still is. The guide
    names the program's message."""
    running, browser = await begin(name)
    own, without_cookies, with_its_own = browser(), browser(), browser()
    await with_its_own.get(login)
    callback = await callback_of(place, open_browser(place), own, login)

    texts = []
    for other in (without_cookies, with_its_own):
        refused = await other.get(callback)
        texts.append(refused.text)
        # Django redirects to LOGIN_REDIRECT_URL_FAILURE.
        assert refused.status_code >= 400 or name == "django", refused.text
        assert not await is_signed_in(other)
    assert guides.GUIDES[name].troubles[0].message in "".join([running.log, *texts])
    assert (await own.get(callback)).status_code in (302, 303)
    assert await is_signed_in(own)


@pytest.mark.promise("security: programs")
async def test_the_program_for_node_ends_sign_ins_after_10_minutes_and_sessions_after_8_hours(
    place, open_browser, begin
):
    running, browser = await begin("node")
    own, late = browser(), browser()
    await own.get(await callback_of(place, open_browser(place), own, "/login"))
    callback = await callback_of(place, open_browser(place), late, "/login")

    running.move_clock(minutes=10)
    refused = await late.get(callback)
    assert (refused.status_code, await is_signed_in(late)) == (400, False)
    assert await is_signed_in(own)
    running.move_clock(minutes=8 * 60)
    assert not await is_signed_in(own)


@pytest.mark.promise("security: programs")
async def test_the_program_for_node_keeps_a_bounded_number_of_sign_ins(place, open_browser, begin):
    def at_most_two(text):
        assert text.count("100_000") == 1
        return text.replace("100_000", "2")

    _, browser = await begin("node", at_most_two)
    first, second = browser(), browser()
    first_callback = await callback_of(place, open_browser(place), first, "/login")
    second_callback = await callback_of(place, open_browser(place), second, "/login")
    await browser().get("/login")

    assert (await first.get(first_callback)).status_code == 400
    assert (await second.get(second_callback)).status_code == 303


@pytest.mark.parametrize(
    ("host", "name", "last"),
    [("localhost", "browser", "lax"), ("https://localhost", "__host-browser", "secure")],
)
async def test_the_cookie_of_the_program_for_node_is_out_of_reach_of_scripts_and_other_sites(
    begin, host, name, last
):
    """Over https it is also out of reach of other hosts of the domain (RFC 6265bis 4.1.3.2)."""
    _, browser = await begin("node", host=host)
    answer = await browser().get("/login")

    cookie, *attributes = answer.headers["Set-Cookie"].lower().split("; ")
    assert cookie.partition("=")[0] == name
    assert attributes[:4] == ["path=/", "max-age=600", "httponly", "samesite=lax"]
    assert answer.headers["Set-Cookie"].lower().endswith(last)


async def test_the_program_for_node_outlives_an_address_that_is_none(begin):
    _, browser = await begin("node")
    own = browser()
    refused = await own.get(f"{own.base_url}//")

    assert refused.status_code == 400
    assert not await is_signed_in(own)
