"""A store that must not be used from some moment on."""

from __future__ import annotations

import pytest


@pytest.fixture(name="untouched_store")
def untouched_store_fixture(monkeypatch):
    """Returns a function: once it is called with a server, any use of the server's store fails."""

    def touched(*_, **__):
        raise AssertionError("the store was used")

    def forbid(server):
        for name in ("get", "get_many", "find", "commit", "increment"):
            monkeypatch.setattr(type(server.store), name, touched)

    with monkeypatch.context() as monkeypatch:
        yield forbid
