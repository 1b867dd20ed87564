"""The progress of a job on stderr: a bar on a terminal, otherwise a line every few seconds."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from tqdm import tqdm

LINE_SECONDS: Final = 5.0


class Progress:
    """A display of the progress of a job, with its rate and the remaining time; it must be
    closed."""

    def __init__(self, unit: str, stream: TextIO | None = None) -> None:
        self._unit = unit
        self._stream = stream or sys.stderr
        self._bar: tqdm[None] | None = None
        self._start: tuple[float, int] | None = None
        self._printed_at = 0.0

    def show(self, done: int, total: int) -> None:
        """Displays that `done` of `total` are done; nothing while the total is 0, because it is
        unknown."""
        if not total:
            return
        if self._stream.isatty():
            self._draw(done, total)
        else:
            self._print_line(done, total)

    def close(self) -> None:
        """Ends the bar, so that other output can follow."""
        if self._bar is not None:
            self._bar.close()

    def _draw(self, done: int, total: int) -> None:
        if self._bar is None:
            from tqdm import tqdm

            self._bar = tqdm(total=total, initial=done, unit=f" {self._unit}", file=self._stream)
        self._bar.update(done - self._bar.n)

    def _print_line(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self._start is None:
            self._start, self._printed_at = (now, done), now
        if now - self._printed_at < LINE_SECONDS:
            return
        self._printed_at = now
        began, first_done = self._start
        rate = (done - first_done) / (now - began)
        remaining_text = f", {(total - done) / rate:,.0f} s left" if rate else ""
        line = f"{done:,} of {total:,} {self._unit}, {rate:,.0f} a second{remaining_text}"
        print(line, file=self._stream, flush=True)
