"""Counters, gauges and histograms of `prometheus_client`, which count nothing until `enable` was
called: a service without a listener for metrics does not even import the library.

The values of each process are in files of a directory that the processes of the service share
(the library's multiprocess mode); the answer to a scrape combines them. A process is named by its
place, such as the index of a worker, and not by its process id: a replaced worker continues the
counts of the one before, and the number of files is bounded.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

PREFIX: Final = "idp_"
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


class Metric:
    """A metric by its name without prefix. `labels` are the names of its labels, each of which has
    a fixed set of values: never a path, a client, an organization, a user or an address.
    """

    kind = ""

    def __init__(
        self, name: str, meaning: str, labels: Sequence[str] = (), **options: object
    ) -> None:
        self.name = name
        self.meaning = meaning
        self.labels = tuple(labels)
        self._options = options
        self._library_metric: Any = None
        DECLARED[name] = self

    def make(self, registry: CollectorRegistry) -> None:
        """Creates the library's metric in this process, with which counting begins."""
        import prometheus_client

        make = getattr(prometheus_client, self.kind)
        name = PREFIX + self.name
        self._library_metric = make(
            name, self.meaning, self.labels, registry=registry, **self._options
        )

    def end(self) -> None:
        """Ends counting in this process."""
        self._library_metric = None

    def _of(self, labels: tuple[str, ...]) -> Any:
        """Returns the library's metric with these labels. Raises ValueError if it has others."""
        has_labels = self.labels or labels
        return self._library_metric.labels(*labels) if has_labels else self._library_metric


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
            self._of(labels)

    def count(self, *labels: str, by: float = 1) -> None:
        """Increments the counter with these labels by `by`."""
        if self._library_metric is not None:
            self._of(labels).inc(by)


class GaugeMetric(Metric):
    """A number that grows and shrinks. `combined_by` states how the values of several processes
    are combined: SUM, LATEST or LATEST_RUNNING."""

    kind = "Gauge"

    def __init__(
        self, name: str, meaning: str, labels: Sequence[str] = (), *, combined_by: str = LATEST
    ) -> None:
        super().__init__(name, meaning, labels, multiprocess_mode=combined_by)
        self._only: tuple[str, ...] | None = None

    def set(self, value: float, *labels: str) -> None:
        """Sets the value of this process."""
        if self._library_metric is not None:
            self._of(labels).set(value)

    def set_only(self, *labels: str) -> None:
        """Sets 1 for these labels, and 0 for those of the last call."""
        if self._only is not None and self._only != labels:
            self.set(0, *self._only)
        self.set(1, *labels)
        self._only = labels


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
        super().__init__(name, meaning, labels, buckets=buckets)

    def observe(self, value: float, *labels: str) -> None:
        """Counts a value."""
        if self._library_metric is not None:
            self._of(labels).observe(value)


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

    values.ValueClass = values.MultiProcessValue(lambda: process)  # type: ignore
    registry = CollectorRegistry()
    for metric in DECLARED.values():
        metric.make(registry)
    _process.directory, _process.name = directory, process


def disable() -> None:
    """Ends counting in this process, such as in one that was just forked."""
    if not _process.name:
        return
    from prometheus_client import values

    for metric in DECLARED.values():
        metric.end()
    values.close_all_multiprocess_files()  # type: ignore[no-untyped-call]
    values.ValueClass = values.MutexValue
    os.environ.pop(_VARIABLE, None)
    _process.directory, _process.name = None, ""


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
            file.write(bytes(_SMALL_BYTES))


def collected(directory: Path) -> CollectorRegistry:
    """Returns a registry that has the values of all processes."""
    from prometheus_client import CollectorRegistry
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = CollectorRegistry()
    MultiProcessCollector(registry, str(directory))  # type: ignore[no-untyped-call]
    return registry


def _path(directory: Path, name: str, process: str) -> Path:
    return directory / f"{name}_{process}.db"
