"""The version of the program, as `idp --version` prints it."""

from __future__ import annotations

import subprocess  # nosec B404
from pathlib import Path
from typing import Final

from idp import __version__

_ROOT: Final = Path(__file__).parents[2]
_GIT_SECONDS: Final = 5


def described() -> str:
    """Returns the version; of a development version in its repository with the commit as local
    part (PEP 440), as in `0.3.0.dev0+g1a2b3c4d`."""
    if ".dev" not in __version__ or not (_ROOT / ".git").exists():
        return __version__
    command = ["git", "-C", str(_ROOT), "rev-parse", "--short=8", "HEAD"]
    try:
        ran = subprocess.run(  # a fixed command  # noqa: S603  # nosec B603
            command, capture_output=True, text=True, check=True, timeout=_GIT_SECONDS
        )
    except (OSError, subprocess.SubprocessError):  # no git, or not this user's repository
        return __version__
    return f"{__version__}+g{ran.stdout.strip()}"
