"""A client that requests userinfo continuously, in a separate process.

`python -m benchmarks.transfer.userinfo_load PORT` reads the head of a request from the first line
of its input, sends it fifty times a second until the input ends, and prints the duration of each
answer.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
import time
from types import TracebackType
from typing import Final

from benchmarks.protocol.load import Flow, PersistentConnection, Step
from benchmarks.protocol.processes import python

_EVERY_SECONDS: Final = 0.02


class UserinfoLoad:
    """Sends requests within the block. `seconds` are the durations of the answers, available after
    it."""

    def __init__(self, port: int, head: str) -> None:
        self._port = port
        self._head = head
        self.seconds: list[float] = []

    def __enter__(self) -> UserinfoLoad:
        pipe = subprocess.PIPE
        command = python("benchmarks.transfer.userinfo_load", str(self._port))
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        assert self._process.stdin  # noqa: S101 - told to mypy
        self._process.stdin.write(json.dumps(self._head) + "\n")
        self._process.stdin.flush()
        assert self._process.stdout  # noqa: S101 - told to mypy
        if not self._process.stdout.readline():
            raise RuntimeError("nobody asks for userinfo")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: object, __: TracebackType | None
    ) -> None:
        output, _none = self._process.communicate()
        if kind is None:
            self.seconds = json.loads(output)


def main(port: int) -> None:
    """Sends requests until the input ends, and once more then; a first line states that it has
    begun."""
    connection = PersistentConnection(port, Flow([Step(json.loads(sys.stdin.readline()))]))
    took = [_asked(connection)]
    print(flush=True)
    while not select.select([sys.stdin], [], [], max(0.0, _EVERY_SECONDS - took[-1]))[0]:
        took.append(_asked(connection))
    print(json.dumps([*took, _asked(connection)]))


def _asked(connection: PersistentConnection) -> float:
    began = time.perf_counter()
    connection.once()
    return time.perf_counter() - began


if __name__ == "__main__":
    main(int(sys.argv[1]))
