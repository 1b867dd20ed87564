"""Other people's clients against the running program.

Fixtures::

    place    the program with two processes, as a `tests.support.service.Server`
    npm      Node, and the directory with the parties that are written for it
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.flows.conftest import at
from tests.interop import node
from tests.support.program import Program
from tests.support.skips import skip


@pytest.fixture(scope="package")
def service(tmp_path_factory):
    running = Program(tmp_path_factory.mktemp("service"), "--processes", "2").start()
    yield running
    try:
        running.stop()
    finally:
        running.kill()


@pytest.fixture
def place(io_loop, service):
    server = io_loop.run_sync(lambda: at(service))
    yield server
    io_loop.run_sync(server.store.close)


@pytest.fixture(scope="package")
def npm():
    try:
        found = node.find()
        return found, node.install(found, Path(__file__).parent / "npm")
    except node.NoNode as error:
        skip(error)
