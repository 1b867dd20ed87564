"""The program in this process: for commands that end by themselves, and for starts.

What is not the same as in a process of its own: modules have been imported already, nothing is
forked, and stderr is not the stream that loses lines. The clock, random values and files are real,
so a test asserts no time. Tests of processes, signals and ports start the program (`program.py`).
"""

from __future__ import annotations

import json
import logging
import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import prometheus_client.values
import pytest
from click.testing import CliRunner

from idp.cli import main
from idp.foundation import logs
from idp.server import listener
from tests.support.programs.program import MISHAPS, environment
from tests.support.service import make_hashes_cheap, share_keys


def run(directory: Path, *arguments: str, **settings) -> subprocess.CompletedProcess[str]:
    """Runs a command of the program to its end, in this directory and with no settings but
    these. Raises AssertionError if it is a start that is not refused."""
    return _run(directory, arguments, settings, serve=_must_not_serve)


def started(directory: Path, *flags: str, **settings) -> Started:
    """Starts the service on one process, and stops it just before it would serve requests."""
    with pytest.MonkeyPatch.context() as patch:
        share_keys(patch)
        make_hashes_cheap(patch)
        words = ("serve", "--json", "--port", "0", *flags)
        done = _run(directory, words, settings, serve=_announce)
    assert done.returncode == 0, done.stderr
    assert not [word for word in MISHAPS if word in done.stderr], done.stderr
    return Started(json.loads(done.stdout), done.stderr)


class Started(NamedTuple):
    """What a start has printed: its announcement, and the log."""

    announcement: dict[str, Any]
    log: str


def _run(
    directory: Path, arguments: Sequence[str], settings: Mapping[str, object], serve: Any
) -> subprocess.CompletedProcess[str]:
    variables = environment(**settings)
    with pytest.MonkeyPatch.context() as patch, chdir(directory), _restored():
        patch.setattr(listener, "serve", serve)
        patch.setattr(listener, "Supervisor", _must_not_serve)
        for name in list(os.environ):
            patch.delenv(name)
        for name, value in variables.items():
            patch.setenv(name, value)
        done = CliRunner().invoke(main, arguments, prog_name="idp")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)


async def _announce(service, listening_socket, reloader, ready, **_) -> None:
    ready()


def _must_not_serve(*_, **__) -> NoReturn:
    raise AssertionError("the service has started")


@contextmanager
def _restored() -> Iterator[None]:
    """Restores the process state that the program changes."""
    root, output = logging.getLogger(), dict(vars(logs._output))
    handlers, level = list(root.handlers), root.level
    on_reload = signal.getsignal(signal.SIGHUP)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    kind_of_values = prometheus_client.values.ValueClass
    try:
        yield
    finally:
        vars(logs._output).update(output)
        root.handlers[:] = handlers
        root.setLevel(level)
        signal.signal(signal.SIGHUP, on_reload)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        prometheus_client.values.ValueClass = kind_of_values


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
