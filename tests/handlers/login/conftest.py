"""What the pages of a sign-in begin with."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.handlers.login.form_pages import Place
from tests.support.attacks import guessing
from tests.support.sign_in.factors import give_app


@pytest.fixture
def at(new_visitor, demo):
    """Opens the page of the password, at an address, and returns what sends a password there."""
    return guessing.begun_by(new_visitor, demo)


@pytest.fixture
def app(io_loop, server):
    """The demo user has an authenticator app."""
    io_loop.run_sync(lambda: give_app(server))


@pytest.fixture
def place(server, visitor, demo):
    return Place(server, visitor, demo)


@pytest.fixture
def proof(server):
    """What the set-up link carries."""
    link = dict(parse_qsl(urlsplit(server.start.setup_url()).fragment))
    return {"loginName": link["u"], "password": link["t"]}
