"""Tests over HTTP that run on SQLite and on MongoDB: the fixture `settings` of their module."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["sqlite", "mongodb"])
def settings(request, tmp_path):
    """A store of each kind; a module imports this fixture by its name."""
    yield from store_settings(request, request.param, tmp_path)


on_both_stores = pytest.mark.parametrize("settings", ["sqlite", "mongodb"], indirect=True)


@pytest.fixture(name="settings")
def store_as_marked(request, tmp_path):
    """The `settings` of a module of which only some tests run on both stores: those that are
    marked with `on_both_stores`. The others have a store in memory."""
    kind = getattr(request, "param", None)
    if kind is None:
        yield {}
    else:
        yield from store_settings(request, kind, tmp_path)


def store_settings(request, kind, tmp_path):
    """Yields the settings of a new store of this kind, for a fixture."""
    if kind == "sqlite":
        yield {"store": f"sqlite:///{tmp_path}/db.sqlite3"}
        return
    yield {"store": request.getfixturevalue("emptied_mongodb")}
