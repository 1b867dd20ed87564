"""Programs of Debian's packages for tests: those that build and check what `deploy/` holds.

A missing one is installed where that is meant, with `CI` in the environment and as root on Debian;
elsewhere the tests that ask are skipped, and say what to install.
"""

from __future__ import annotations

import os
import shutil
import subprocess

from tests.support.skips import skip


def need(*packages: str, **programs: str) -> None:
    """Make sure that these programs are there, each of the package of its name unless another is
    given: `need("umoci", unshare="util-linux")`."""
    wanted = {name: name for name in packages} | programs
    missing = sorted({wanted[name] for name in wanted if shutil.which(name) is None})
    if not missing:
        return
    if not (os.environ.get("CI") and os.geteuid() == 0 and shutil.which("apt-get")):
        skip(f"missing packages of Debian: {' '.join(missing)}")
    _apt_get("update")
    _apt_get("install", "--yes", "--no-install-recommends", *missing)


def need_root(why: str) -> None:
    if os.geteuid() != 0:
        skip(f"only root {why}")


def _apt_get(*arguments: str) -> None:
    ran = subprocess.run(
        ["apt-get", "--quiet=2", *arguments],
        env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if ran.returncode:
        skip(f"apt-get {arguments[0]}: {ran.stderr[-1000:]}")
