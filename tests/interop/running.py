"""Programs of applications for tests, each in a directory of its own."""

from __future__ import annotations

import socket
import subprocess
import time
from pathlib import Path

from tests.support.patience import SECONDS

START_SECONDS = SECONDS


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


class Running:
    """A program that was started in `directory`; what it prints is in its `log`."""

    def __init__(self, command: list[str], directory: Path, environment: dict[str, str]) -> None:
        self.directory = directory
        self._output = directory / f"{Path(command[0]).name}.log"
        with self._output.open("wb") as output:
            self.process = subprocess.Popen(
                command,
                cwd=directory,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    @property
    def log(self) -> str:
        return self._output.read_text(encoding="utf-8", errors="replace")

    def wait_for(self, port: int) -> None:
        """Return when it listens at this port of 127.0.0.1."""
        ends_at = time.monotonic() + START_SECONDS
        while time.monotonic() < ends_at and self.process.poll() is None:
            with socket.socket() as asking:
                if asking.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.05)
        self.stop()
        raise AssertionError(f"the program does not listen: {self.log}")

    def move_clock(self, *, minutes: int) -> None:
        """Let the clock of a program of Node go ahead by this."""
        (self.directory / "ahead").write_text(str(minutes * 60_000))

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
