"""Programs of presets for libraries, started as they stand.

Fixtures::

    start    starts the program of a preset
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.interop import node
from tests.interop.running import Running
from tests.interop.test_preset_programs import SECRETS, callback_of
from tests.support import patience
from tests.support.programs import go_tools


class Pages(NamedTuple):
    """The pages of a program: where a sign-in begins, and by which method; the claims from
    userinfo; and where a post signs out."""

    method: str
    login: str
    profile: str
    logout: str


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
SOCIAL_AUTH_OIDC_JWT_LEEWAY = 600  # a test's service has a clock that is ahead
"""
URLS = """
import identity
from django.http import HttpResponse
from django.urls import include, path


def home(request):
    is_known = request.user.is_authenticated
    return HttpResponse(f"Hello {{request.user.email}}" if is_known else "Sign in")


urlpatterns = [path("", home), path("profile/", identity.profile), {line}]
urlpatterns += [path("sign-out/", identity.sign_out)]
"""
LINES = {
    "allauth": 'path("accounts/", include("allauth.urls"))',
    "social-auth": 'path("", include("social_django.urls", namespace="social")),'
    ' path("sign-in/", identity.sign_in)',
}
PROGRAMS = {
    "passport": Pages("GET", "/login", "/profile", "/logout"),
    "go": Pages("GET", "/login", "/profile", "/logout"),
    "flask-oidc": Pages("GET", "/login", "/profile", "/sign-out"),
    "allauth": Pages("POST", "/accounts/oidc/idp/login/", "/profile/", "/sign-out/"),
    "social-auth": Pages("POST", "/login/oidc/", "/profile/", "/sign-out/"),
}


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
        settings, _, views = text.partition("\n# --- identity.py, beside urls.py\n")
        (directory / "settings.py").write_text(DJANGO + settings, encoding="utf-8")
        (directory / "identity.py").write_text(views, encoding="utf-8")
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


async def sign_in(place, person, own, name: str) -> None:
    pages = PROGRAMS[name]
    callback = await callback_of(place, person, Login(own, pages.method), pages.login)
    finished = await own.get(callback)
    assert finished.status_code in (302, 303), finished.text


async def begun(person, own, name: str):
    """The page of the service at which a new sign-in begins."""
    pages = PROGRAMS[name]
    sent = await own.request(pages.method, pages.login)
    return await person.open(sent.headers["Location"])
