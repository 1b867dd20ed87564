"""Where the service burns: over SQLite, and over a real MongoDB."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.fire.ground import Ground
from tests.fire.groups import Groups
from tests.support.servers.mongod import fresh_database


@pytest.fixture(params=["sqlite", "mongodb"])
def new_ground(request, tmp_path_factory, io_loop) -> Iterator[Callable[[], Ground]]:
    """Makes installations, each in a directory of its own and with a store of its own."""
    with ExitStack() as stack:

        def make(*flags: str) -> Ground:
            if request.param == "mongodb":
                url = stack.enter_context(fresh_database(request.getfixturevalue("mongod")))
                flags = ("--store", url, *flags)
            ground = Ground(tmp_path_factory.mktemp(request.param), *flags)
            stack.callback(lambda: io_loop.run_sync(ground.close))
            return ground

        yield make


@pytest.fixture
def make_groups(tmp_path, io_loop) -> Iterator[Callable[..., Groups]]:
    """Makes two groups of processes behind a balancer, which are not started yet; over one SQLite
    file, unless flags name another store."""
    with ExitStack() as stack:

        def make(*flags: str, **settings) -> Groups:
            groups = Groups(tmp_path, *flags, **settings)
            stack.callback(lambda: io_loop.run_sync(groups.close))
            return groups

        yield make


@pytest.fixture
def on_sqlite(make_groups, io_loop) -> Groups:
    """Two groups over one SQLite file, which serve."""
    groups = make_groups()
    io_loop.run_sync(groups.start, timeout=120)
    return groups


@pytest.fixture
def databases() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture(params=["sqlite", "mongodb"])
def new_groups(request, databases, make_groups) -> Callable[..., Groups]:
    """Makes two groups as `make_groups` does, over each store. They end before their database."""

    def make(*flags: str, **settings) -> Groups:
        if request.param == "mongodb":
            url = databases.enter_context(fresh_database(request.getfixturevalue("mongod")))
            flags = ("--store", url, *flags)
        return make_groups(*flags, **settings)

    return make
