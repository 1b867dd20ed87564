"""Debian's haproxy, as `deploy/haproxy.cfg` configures it, in front of programs on loopback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.programs import debian
from tests.support.servers.replica_set import DIE_WITH_PARENT

PROGRAM = "/usr/sbin/haproxy"
CONFIGURATION = Path(__file__).parents[3] / "deploy" / "haproxy.cfg"


def configuration(port: int, servers: dict[str, int]) -> str:
    """The configuration that is recommended, for a port of its own, and with these ports of this
    machine as its servers, by name."""
    text = CONFIGURATION.read_text()
    changes = {"bind :8080": f"bind 127.0.0.1:{port}"}
    changes |= {f"{name}:8080": f"127.0.0.1:{at}" for name, at in servers.items()}
    for named, replaced in changes.items():
        assert named in text
        text = text.replace(named, replaced)
    return text


class Haproxy:
    """A running haproxy at `port`, which ends with the test process."""

    def __init__(self, directory: Path, port: int, servers: dict[str, int]) -> None:
        debian.need("haproxy")
        file = directory / "haproxy.cfg"
        file.write_text(configuration(port, servers))
        parent = [sys.executable, "-S", "-c", DIE_WITH_PARENT, str(os.getpid())]
        self.port = port
        self.process = subprocess.Popen([*parent, PROGRAM, "-db", "-f", str(file)])

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
