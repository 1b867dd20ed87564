"""The systemd units: how little they may do, and that the service makes do with it."""

from __future__ import annotations

import os
import re
import shutil
import signal

import httpx
import pytest

from tests.deploy.conftest import run
from tests.support.programs import debian
from tests.support.programs.program import Program, children, command, environment
from tests.support.repository import ROOT

pytestmark = pytest.mark.load

UNITS = ROOT / "deploy" / "systemd"
UNIT = UNITS / "idp.service"
# What SQLite calls as root alone, as which these tests may run.
AS_ROOT = {"fchown"}


class Traced(Program):
    """The program under strace, which notes its system calls."""

    def spawn(self) -> Program:
        whole = command("serve", *self.flags)
        at = (
            whole.index("-m") - 4
        )  # before Python and its options: what dies with its parent stays
        strace = [
            shutil.which("strace"),
            "-f",
            "-qq",
            "-s",
            "0",
            "-o",
            str(self.directory / "calls"),
        ]
        self._open([*whole[:at], *strace, *whole[at:]], environment(**self.environment))
        return self


def settings(name: str) -> list[str]:
    return re.findall(rf"^{name}=(.*)$", UNIT.read_text(encoding="utf-8"), re.M)


def calls(*groups: str) -> set[str]:
    """The system calls of systemd's groups."""
    found: set[str] = set()
    for group in groups:
        names = re.findall(r"^ {4}(\S+)$", run("systemd-analyze", "syscall-filter", group), re.M)
        found |= {name for name in names if not name.startswith("@")}
        nested = [name for name in names if name.startswith("@")]
        found |= calls(*nested) if nested else set()
    return found


def allowed() -> set[str]:
    """The system calls that the unit lets through."""
    found: set[str] = set()
    for line in settings("SystemCallFilter"):
        groups = [name for name in line.lstrip("~").split() if name.startswith("@")]
        names = calls(*groups) | (set(line.lstrip("~").split()) - set(groups))
        found = found - names if line.startswith("~") else found | names
    return found


@pytest.mark.parametrize("unit", sorted(UNITS.glob("*.service")), ids=lambda path: path.stem)
def test_systemd_rates_the_unit_as_safe(unit):
    debian.need(**{"systemd-analyze": "systemd"})

    run("systemd-analyze", "security", "--offline=true", "--threshold=15", unit)


def test_systemd_understands_the_timer(tmp_path):
    debian.need(**{"systemd-analyze": "systemd"})
    for unit in ("idp-backup.service", "idp-backup.timer"):
        lines = (UNITS / unit).read_text(encoding="utf-8").replace("/opt/idp/bin/idp", "/bin/true")
        (tmp_path / unit).write_text(lines)

    run("systemd-analyze", "verify", tmp_path / "idp-backup.timer")


async def test_the_service_makes_no_system_call_that_the_unit_forbids(tmp_path, open_browser):
    debian.need("strace", **{"systemd-analyze": "systemd"})
    program = Traced(tmp_path, "--processes", "2", IDP_METRICS_LISTEN="127.0.0.1:0").start()
    try:
        await program.demo().tokens(open_browser(program), *program.user)
        assert httpx.get(f"{program.issuer}/readyz").status_code == 200
    finally:
        for pid in children(program.process.pid):
            os.kill(pid, signal.SIGTERM)
        program.wait()
    text = (tmp_path / "calls").read_text()
    made = set(re.findall(r"^(?:\d+ +)?(\w+)\(", text, re.M))

    assert {"accept4", "execve"} <= made
    assert not made - allowed() - AS_ROOT
    # MemoryDenyWriteExecute
    assert not re.findall(r"mmap\(.*PROT_WRITE\|PROT_EXEC|mprotect\(.*PROT_EXEC", text)
