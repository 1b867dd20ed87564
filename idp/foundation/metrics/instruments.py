"""Counters, gauges and histograms that count nothing until `enable` was called, so that they cost
a service without a listener for metrics nothing.

The values of each process are in files of a directory that the processes of the service share
(the multiprocess mode of `prometheus_client`); the answer to a scrape combines them. A process
is named by its place, such as the index of a worker, and not by its process id: a replaced worker
continues the counts of the one before, and the number of files is bounded.

Changes are collected in memory, and `write` writes all of them to the files together: a change of
a file takes as long as several in memory. A killed process loses what it counted since its last
`write`, but what a scrape has seen never becomes less.
"""

from __future__ import annotations

import asyncio
import os
from bisect import bisect_left
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

PREFIX: Final = "idp_"
WRITE_SECONDS: Final = 0.25
REQUEST_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

# The value of a gauge that several processes set: the sum over those that run, the value that was
# set last, or the value that was set last by a process that runs.
SUM: Final = "livesum"
LATEST: Final = "mostrecent"
LATEST_RUNNING: Final = "livemostrecent"

_VARIABLE: Final = "PROMETHEUS_MULTIPROC_DIR"
_OLD_VARIABLE: Final = "prometheus_multiproc_dir"  # the library still reads it
_LIVE_FILES: Final = (f"gauge_{SUM}", f"gauge_{LATEST_RUNNING}")
_FILES: Final = ("counter", "histogram", f"gauge_{LATEST}", *_LIVE_FILES)
_SMALL_BYTES: Final = 64 * 1024
_LARGE_BYTES: Final = 1024 * 1024  # the labels of 5,000 series

DECLARED: Final[dict[str, Metric]] = {}

# Protects the changes that are not written yet: a scrape may write them in another thread. It
# is reentrant, because the garbage collector may run within it, and its log lines are counted.
_lock: Final = RLock()


class Metric:
    """A metric by its name without prefix. `labels` are the names of its labels, each of which has
    a fixed set of values: never a path, a client, an organization, a user or an address.
    """

    kind = ""

    def __init__(self, name: str, meaning: str, labels: Sequence[str] = ()) -> None:
        self.name = name
        self.meaning = meaning
        self.labels = tuple(labels)
        self._library_metric: Any = None
        self._children: dict[tuple[str, ...], Any] = {}
        self._changes: dict[tuple[str, ...], Any] = {}
        DECLARED[name] = self

    def make(self, registry: CollectorRegistry) -> None:
        """Creates the library's metric in this process, with which counting begins."""
        import prometheus_client

        make = getattr(prometheus_client, self.kind)
        self._library_metric = make(
            PREFIX + self.name, self.meaning, self.labels, registry=registry, **self._options()
        )

    def end(self) -> None:
        """Ends counting in this process. Changes that are not written yet are dropped."""
        self._library_metric = None
        self._children, self._changes = {}, {}

    def write(self) -> None:
        """Writes the changes since the last call to the file of this process."""
        changes, self._changes = self._changes, {}
        for labels, change in changes.items():
            self._apply(self._child(labels), change)

    def _options(self) -> dict[str, Any]:
        return {}

    def _child(self, labels: tuple[str, ...]) -> Any:
        """Returns the library's object for these labels, which it looks up once. Raises ValueError
        if the metric has others.
        """
        child = self._children.get(labels)
        if child is None:
            child = (
                self._library_metric.labels(*labels)
                if self.labels or labels
                else self._library_metric
            )
            self._children[labels] = child
        return child

    def _apply(self, child: Any, change: Any) -> None:
        raise NotImplementedError


class CounterMetric(Metric):
    """A number that only grows. `zeroes` are the labels of series that exist, with 0, before the
    first count: Prometheus sees no increase in a series that begins at its first count."""

    kind = "Counter"

    def __init__(
        self,
        name: str,
        meaning: str,
        labels: Sequence[str] = (),
        *,
        zeroes: Iterable[tuple[str, ...]] = (),
    ) -> None:
        super().__init__(name, meaning, labels)
        self.zeroes = tuple(zeroes)

    def make(self, registry: CollectorRegistry) -> None:
        super().make(registry)
        for labels in self.zeroes:
            self._child(labels)

    def count(self, *labels: str, by: float = 1) -> None:
        """Increments the counter with these labels by `by`."""
        if self._library_metric is None:
            return
        with _lock:
            before = self._changes.get(labels)
            if before is None:
                self._child(labels)
            self._changes[labels] = (before or 0) + by

    def _apply(self, child: Any, change: float) -> None:
        child.inc(change)


class GaugeMetric(Metric):
    """A number that grows and shrinks. `combined_by` states how the values of several processes
    are combined: SUM, LATEST or LATEST_RUNNING."""

    kind = "Gauge"

    def __init__(
        self, name: str, meaning: str, labels: Sequence[str] = (), *, combined_by: str = LATEST
    ) -> None:
        super().__init__(name, meaning, labels)
        self.combined_by = combined_by
        self._source: Callable[[], Mapping[tuple[str, ...], float]] | None = None

    def read_from(self, source: Callable[[], Mapping[tuple[str, ...], float]]) -> None:
        """Sets a function that each `write` calls for the current values, by their labels, instead
        of a `set` with every request. A scrape may call it in another thread."""
        self._source = source

    def write(self) -> None:
        if self._library_metric is not None and self._source is not None:
            for labels, value in self._source().items():
                self.set(value, *labels)
        super().write()

    def _options(self) -> dict[str, Any]:
        return {"multiprocess_mode": self.combined_by}

    def set(self, value: float, *labels: str) -> None:
        """Sets the value of this process."""
        if self._library_metric is None:
            return
        with _lock:
            if labels not in self._changes:
                self._child(labels)
            self._changes[labels] = value

    def set_only(self, *labels: str) -> None:
        """Sets 1 for these labels, and 0 for all others that this process has set."""
        for label_values in list(self._children):
            self.set(0, *label_values)
        self.set(1, *labels)

    def _apply(self, child: Any, change: float) -> None:
        child.set(change)


class _Observations:
    """The values of a histogram that are not written yet: their sum, and how many are in each
    bucket.
    """

    __slots__ = ("buckets", "sum")

    def __init__(self, count: int) -> None:
        self.sum = 0.0
        self.buckets = [0] * count


class HistogramMetric(Metric):
    """How many values there were up to each of some bounds, and their sum."""

    kind = "Histogram"

    def __init__(
        self,
        name: str,
        meaning: str,
        labels: Sequence[str] = (),
        *,
        buckets: Sequence[float] = REQUEST_BUCKETS,
    ) -> None:
        super().__init__(name, meaning, labels)
        self._bounds = buckets

    def _options(self) -> dict[str, Any]:
        return {"buckets": self._bounds}

    def observe(self, value: float, *labels: str) -> None:
        """Counts a value."""
        if self._library_metric is None:
            return
        with _lock:
            change = self._changes.get(labels)
            if change is None:
                self._child(labels)
                change = self._changes[labels] = _Observations(len(self._bounds) + 1)
            change.sum += value
            change.buckets[bisect_left(self._bounds, value)] += 1

    def _apply(self, child: Any, change: _Observations) -> None:
        # The library's `observe` takes one value at a time.
        child._sum.inc(change.sum)
        for bucket, number in zip(child._buckets, change.buckets, strict=True):
            if number:
                bucket.inc(number)


class _Process:
    """The directory in which this process counts, and its name there; both are unset until
    `enable`."""

    directory: Path | None = None
    name = ""


_process: Final = _Process()


def reserve(directory: Path, process: str, *, is_worker: bool) -> None:
    """Creates the files of a process, with room for all that it may count. Raises OSError if
    there is no room.

    Otherwise a disk that is full would end the process: it maps the files into its memory.
    """
    for name in _FILES:
        is_large = is_worker and name in ("counter", "histogram")
        file = os.open(_path(directory, name, process), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            os.posix_fallocate(file, 0, _LARGE_BYTES if is_large else _SMALL_BYTES)
        finally:
            os.close(file)


def enable(directory: Path, process: str) -> None:
    """Starts counting in this process, in the files that are reserved for its name. No two running
    processes may have the same name.
    """
    disable()
    os.environ.pop(_OLD_VARIABLE, None)
    os.environ[_VARIABLE] = str(directory)
    from prometheus_client import CollectorRegistry, values

    multiprocess = values.MultiProcessValue(lambda: process)  # type: ignore[no-untyped-call]
    values.ValueClass = multiprocess
    registry = CollectorRegistry()
    for metric in DECLARED.values():
        metric.make(registry)
    _process.directory, _process.name = directory, process


def disable() -> None:
    """Ends counting in this process. What is not written yet is dropped: in a process that was
    just forked, it is its parent's.
    """
    if not _process.name:
        return
    from prometheus_client import values

    for metric in DECLARED.values():
        metric.end()
    values.close_all_multiprocess_files()  # type: ignore[no-untyped-call]
    values.ValueClass = values.MutexValue
    os.environ.pop(_VARIABLE, None)
    _process.directory, _process.name = None, ""


def write() -> None:
    """Writes all changes to the files of this process, which a scrape reads."""
    with _lock:
        for metric in DECLARED.values():
            metric.write()


@asynccontextmanager
async def writing() -> AsyncIterator[None]:
    """Within the block, the event loop calls `write` every WRITE_SECONDS, and once more at the
    end.
    """
    task = asyncio.create_task(_write_regularly())
    try:
        yield
    finally:
        task.cancel()
        write()


async def _write_regularly() -> None:
    while True:
        await asyncio.sleep(WRITE_SECONDS)
        write()


def process_name() -> str:
    """Returns the name of this process if it counts, else an empty text."""
    return _process.name


def remove_running(process: str) -> None:
    """Removes the values of a process that has ended from the gauges of running ones.

    Its files stay, with their room: a disk that is full now must not stop the next process.
    """
    if _process.directory is None:
        return
    for name in _LIVE_FILES:
        with _path(_process.directory, name, process).open("r+b") as file:
            file.write(bytes(4))  # the number of used bytes


def collected(directory: Path) -> CollectorRegistry:
    """Returns a registry that has the values of all processes."""
    from prometheus_client import CollectorRegistry
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = CollectorRegistry()
    MultiProcessCollector(registry, str(directory))  # type: ignore[no-untyped-call]
    return registry


def _path(directory: Path, name: str, process: str) -> Path:
    return directory / f"{name}_{process}.db"
