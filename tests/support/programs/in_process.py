"""The program in this process: for commands that end by themselves, and for starts.

What is not the same as in a process of its own: modules have been imported already, and nothing
is forked. Tests of processes, signals and ports start the program (`program.py`).
"""

from __future__ import annotations

import itertools
import json
import logging
import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pytest
from click.testing import CliRunner

from idp.cli import main
from idp.foundation import logs
from idp.keys import algorithms
from idp.server import listener
from tests.support.programs.program import environment
from tests.support.service import make_hashes_cheap, shared_key


def run(directory: Path, *arguments: str, **settings) -> subprocess.CompletedProcess[str]:
    """Runs a command of the program to its end, in this directory and with no settings but
    these."""
    variables = environment(**settings)
    with chdir(directory), _restored(), mock.patch.dict(os.environ, variables, clear=True):
        done = CliRunner().invoke(main, arguments)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)


class Started(NamedTuple):
    """What a start has printed: its announcement, and the log."""

    announcement: dict[str, Any]
    log: str

    @property
    def user(self) -> tuple[str, str]:
        """Login name and password of the demo user."""
        user = self.announcement["demo"]["user"]
        return user["loginName"], user["password"]


def started(directory: Path, *flags: str, **settings) -> Started:
    """Starts the service on one process, and ends it when it would answer requests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(listener, "serve", _announcing)
        numbers = itertools.count()
        patch.setattr(
            algorithms.rsa, "generate_private_key", lambda **_: shared_key(next(numbers) % 4)
        )
        make_hashes_cheap(patch)
        done = run(directory, "serve", "--json", "--port", "0", *flags, **settings)
    assert done.returncode == 0, done.stderr
    return Started(json.loads(done.stdout), done.stderr)


@pytest.fixture(scope="session")
def stopped(tmp_path_factory) -> Path:
    """The data directory of a service that has ended; tests get copies of it."""
    directory = tmp_path_factory.mktemp("stopped")
    started(directory)
    return directory / "idp-data"


@pytest.fixture
def installed(stopped, tmp_path) -> Path:
    """The data directory, in the test's temporary directory, of a service that has ended."""
    return shutil.copytree(stopped, tmp_path / "idp-data")


async def _announcing(service, listening_socket, reloader, ready, **_) -> None:
    ready()


@contextmanager
def _restored() -> Iterator[None]:
    """Takes back what the program changes of its process."""
    root, output = logging.getLogger(), dict(vars(logs._output))
    handlers, level = list(root.handlers), root.level
    on_reload = signal.getsignal(signal.SIGHUP)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        yield
    finally:
        vars(logs._output).update(output)
        root.handlers[:] = handlers
        root.setLevel(level)
        signal.signal(signal.SIGHUP, on_reload)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
