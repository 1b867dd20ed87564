"""Tests over HTTP that run on SQLite and on MongoDB: the fixture `settings` of their module."""

from __future__ import annotations

import pytest

from tests.support.mongod import fresh_database


@pytest.fixture(params=["sqlite", "mongodb"])
def settings(request, tmp_path):
    """A store of each kind; a module imports this fixture by its name."""
    if request.param == "sqlite":
        yield {"store": f"sqlite:///{tmp_path}/db.sqlite3"}
        return
    with fresh_database(request.getfixturevalue("mongod")) as url:
        yield {"store": url}
