"""Apache with mod_auth_openidc for tests: a child process in a directory of its own.

It needs Debian's packages `apache2-bin` and `libapache2-mod-auth-openidc`; no system service has
to run. Apache does not serve as root: whoever is root lends it another user.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Final

from tests.support.patience import SECONDS

CONFIGURATION: Final = Path(__file__).parent / "apache.conf"
MODULES: Final = Path("/usr/lib/apache2/modules")
LENT: Final = ("nobody", "nogroup")
START_SECONDS: Final = SECONDS
STOP_SECONDS: Final = 30.0


class NoApache(Exception):
    """Apache or its module is not to be had here; the message says why."""


class PortTaken(Exception):
    """Somebody was quicker to take the port."""


def find() -> Path:
    """The program. Raises NoApache."""
    program = shutil.which("apache2", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None or not (MODULES / "mod_auth_openidc.so").exists():
        packages = "Debian's packages apache2-bin and libapache2-mod-auth-openidc"
        raise NoApache(f"there is no Apache with mod_auth_openidc ({packages})")
    return Path(program)


class Apache:
    """One server; `base` is where it is, `redirect_uri` where answers arrive."""

    def __init__(self, program: Path) -> None:
        self._program = program
        self._home = Path(tempfile.mkdtemp(prefix="idp-apache-"))
        shutil.copy(CONFIGURATION, self._home)
        for name in ("private", "api"):
            page = self._home / "pages" / name / "page.txt"
            page.parent.mkdir(parents=True)
            page.write_text(f"the {name} page")
        if os.geteuid() == 0:
            shutil.chown(self._home, *LENT)
        self._process: subprocess.Popen[bytes] | None = None
        self._environment: dict[str, str] = {}
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self.base = f"http://127.0.0.1:{self._port}"
        self.redirect_uri = f"{self.base}/private/callback"

    def configure(self, text: str, **environment: str) -> None:
        """Let this text stand for all that is about OpenID Connect; it may name variables."""
        head = CONFIGURATION.read_text().partition("\nOIDC")[0]
        (self._home / CONFIGURATION.name).write_text(f"{head}\n{text}")
        self._environment = environment

    def start(self, **settings: str) -> None:
        """Return when it answers; `settings` are what its configuration takes from outside.

        Raises PortTaken.
        """
        told = {f"PARTY_{name.upper()}": value for name, value in settings.items()}
        told |= {"PARTY_HOME": str(self._home), "PARTY_PORT": str(self._port)}
        with (self._home / "output.log").open("wb") as output:
            self._process = subprocess.Popen(
                [*_confined(), self._program, "-X", "-f", self._home / CONFIGURATION.name],
                env=os.environ | told | self._environment | {"PARTY_MODULES": str(MODULES)},
                cwd=self._home,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._listens():
            if self._process.poll() is not None and "Address already in use" in self.log:
                raise PortTaken
            is_late = self._process.poll() is not None or time.monotonic() > deadline
            assert not is_late, f"Apache does not start: {self.log}"
            time.sleep(0.05)

    @property
    def log(self) -> str:
        """What it said so far."""
        return "".join(file.read_text(errors="replace") for file in self._home.glob("*.log"))

    def close(self) -> None:
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        shutil.rmtree(self._home)

    def _listens(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self._port), 1).close()
        except OSError:
            return False
        return (self._home / "apache.pid").exists()


def _confined() -> list[str]:
    """What runs it as an ordinary user, until this process ends."""
    user, group = LENT
    lent = [f"--reuid={user}", f"--regid={group}", "--clear-groups"] if os.geteuid() == 0 else []
    return ["setpriv", *lent, "--pdeathsig", "KILL"]
