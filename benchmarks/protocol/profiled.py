"""The service under a sampler: the processor time of its parts.

`python -m benchmarks.protocol.profiled serve …` is `idp serve …`. From SIGUSR2 on, the position of
the program is recorded for each millisecond of CPU time; at the end the counts are written to the
file that PROFILE_FILE names. Time in the standard library and in C counts for its caller.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Final

import msgspec
from msgspec import Struct

from benchmarks.tables import aligned

FILE_VARIABLE: Final = "PROFILE_FILE"
BEGIN: Final = signal.SIGUSR2
_EVERY_SECONDS: Final = 0.001
_OURS: Final = ("handlers", "idp", "storage")
_MOST: Final = 25


class Profile(Struct):
    """How many samples were in each part of the program, and in each function."""

    parts: dict[str, int]
    functions: dict[str, int]


class Sampler:
    """Counts the samples by the position of the program."""

    def __init__(self) -> None:
        self._parts: Counter[str] = Counter()
        self._functions: Counter[str] = Counter()
        self._named: dict[str, tuple[str, str]] = {}

    def begin(self, *_: object) -> None:
        signal.signal(signal.SIGPROF, self._note)
        signal.setitimer(signal.ITIMER_PROF, _EVERY_SECONDS, _EVERY_SECONDS)

    def end(self) -> Profile:
        signal.setitimer(signal.ITIMER_PROF, 0)
        return Profile(dict(self._parts), dict(self._functions))

    def _note(self, _: int, frame: FrameType | None) -> None:
        part, module = "loop", "loop"
        while frame is not None:
            part, module = self._place(frame.f_code.co_filename)
            if part:
                break
            frame = frame.f_back
        name = frame.f_code.co_qualname if frame else ""
        self._parts[part or "loop"] += 1
        self._functions[f"{module} {name}" if frame else "loop"] += 1

    def _place(self, file: str) -> tuple[str, str]:
        """Returns the part that a file belongs to (none for the standard library), and its
        module."""
        if file not in self._named:
            self._named[file] = _part(Path(file))
        return self._named[file]


def _part(file: Path) -> tuple[str, str]:
    parts = file.with_suffix("").parts
    if "site-packages" in parts:
        inside = parts[parts.index("site-packages") + 1 :]
        return inside[0], ".".join(inside)
    for package in _OURS:
        if package in parts:
            inside = parts[len(parts) - 1 - parts[::-1].index(package) :]
            part = "idp.foundation.logs" if inside[-1] in ("logs", "redaction") else package
            return part, ".".join(inside)
    return "", ""


def table(profile: Profile, cpu_ms: float) -> str:
    """Returns the parts and the functions that take most time, in microseconds of an operation."""
    return "\n\n".join(
        aligned([("", "share", "µs"), *_rows(counted, cpu_ms)])
        for counted in (profile.parts, profile.functions)
    )


def _rows(counted: Mapping[str, int], cpu_ms: float) -> list[tuple[str, str, str]]:
    total = sum(counted.values()) or 1
    most = sorted(counted.items(), key=lambda item: -item[1])[:_MOST]
    return [
        (f"  {name}", f"{n / total:.1%}", f"{n / total * cpu_ms * 1000:.1f}") for name, n in most
    ]


def main() -> None:
    """Runs the program, and writes its profile."""
    from idp.cli import main as program

    sampler = Sampler()
    signal.signal(BEGIN, sampler.begin)
    try:
        program()
    finally:
        Path(os.environ[FILE_VARIABLE]).write_bytes(msgspec.json.encode(sampler.end()))


if __name__ == "__main__":
    sys.exit(main())
