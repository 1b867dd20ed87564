"""The export of spans to a collector, by OTLP over HTTP, from a bounded queue and in a thread."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

from idp.foundation import logs, tracing
from idp.foundation.tracing.spans import Spans

MAX_QUEUE: Final = 2048
MAX_BATCH: Final = 512
EVERY_SECONDS: Final = 2.0
ANSWER_SECONDS: Final = 5.0  # for one batch, with its repetitions
# At the end of the process, which the supervisor gives 5 s beside the time for requests.
FLUSH_SECONDS: Final = 3.0
ABORT_SECONDS: Final = 0.5

_log: Final = logs.logger(__name__)


class Collector:
    """The destination of spans: an address that ends in `/v1/traces`, and the headers to send."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self.url = url
        self.headers = headers


class _LastProblem(logging.Handler):
    """Stores the last log message of the library, instead of a line for each attempt."""

    text = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.text = record.getMessage()


class ReportingExporter(SpanExporter):  # type: ignore[misc]
    """Exports spans, and logs once that the collector fails and once that it answers again.

    `taken` is the number of spans that were taken out of the queue, and `lost` that of spans which
    the collector did not get.
    """

    def __init__(self, exporter: SpanExporter, problem: _LastProblem) -> None:
        self._exporter = exporter
        self._problem = problem
        self._is_failing = False
        self.taken = 0
        self.lost = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.taken += len(spans)
        result: SpanExportResult = self._exporter.export(spans)
        if result is not SpanExportResult.SUCCESS:
            self.lost += len(spans)
            if not self._is_failing:
                _log.warning("traces are not exported", cause=self._problem.text)
        elif self._is_failing:
            _log.info("traces are exported again", lost=self.lost)
        self._is_failing = result is not SpanExportResult.SUCCESS
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return True


class BoundedQueue(SpanProcessor):  # type: ignore[misc]
    """Passes ended spans on to the exporting thread, at most MAX_QUEUE at a time; others are
    dropped and counted in `dropped`.
    """

    def __init__(self, exporter: ReportingExporter, every_seconds: float = EVERY_SECONDS) -> None:
        self._exporter = exporter
        self._thread = BatchSpanProcessor(
            exporter,
            max_queue_size=MAX_QUEUE,
            schedule_delay_millis=every_seconds * 1000,
            max_export_batch_size=MAX_BATCH,
            export_timeout_millis=ANSWER_SECONDS * 1000,
        )
        self._accepted = 0
        self.dropped = 0

    def on_end(self, span: ReadableSpan) -> None:
        if self._accepted - self._exporter.taken >= MAX_QUEUE:
            if not self.dropped:
                _log.warning("spans are dropped: the queue is full", limit=MAX_QUEUE)
            self.dropped += 1
            return
        self._accepted += 1
        self._thread.on_end(span)

    def shutdown(self) -> None:
        self._thread.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return bool(self._thread.force_flush(timeout_millis))


class _Running:
    """The traces of this process, from its start to `end`."""

    def __init__(self, collector: Collector, ratio: float, resource: Mapping[str, str]) -> None:
        self._problem = _LastProblem()
        self._library = logging.getLogger("opentelemetry")
        self._library.addHandler(self._problem)
        self._library.propagate = False
        self._otlp = OTLPSpanExporter(
            endpoint=collector.url,
            headers=dict(collector.headers),
            timeout=ANSWER_SECONDS,
            compression=Compression.Gzip,
        )
        self._exporter = ReportingExporter(self._otlp, self._problem)
        self._queue = BoundedQueue(self._exporter)
        self._provider = TracerProvider(
            sampler=ParentBased(TraceIdRatioBased(ratio)),
            resource=Resource(dict(resource)),
            shutdown_on_exit=False,
        )
        self._provider.add_span_processor(self._queue)
        tracing.use(Spans(self._provider))

    async def end(self) -> None:
        """Exports what is in the queue, within FLUSH_SECONDS."""
        tracing.use(None)
        loop, is_done = asyncio.get_running_loop(), asyncio.Event()

        def flush() -> None:
            self._provider.shutdown()
            with suppress(RuntimeError):  # the loop was closed meanwhile
                loop.call_soon_threadsafe(is_done.set)

        # Not a thread of the event loop's executor: the process would wait for it at its end.
        threading.Thread(target=flush, name="traces-flush", daemon=True).start()
        try:
            async with asyncio.timeout(FLUSH_SECONDS):
                await is_done.wait()
        except TimeoutError:
            await self._give_up(is_done)
        if lost := self._exporter.lost + self._queue.dropped:
            _log.warning("spans were lost", dropped=self._queue.dropped, number=lost)
        self._library.removeHandler(self._problem)
        self._library.propagate = True

    async def _give_up(self, is_done: asyncio.Event) -> None:
        """Ends the repetitions of the current request, and with it the thread."""
        self._otlp.shutdown()
        with suppress(TimeoutError):
            async with asyncio.timeout(ABORT_SECONDS):
                await is_done.wait()


@asynccontextmanager
async def running(
    collector: Collector, ratio: float, resource: Mapping[str, str]
) -> AsyncIterator[None]:
    """Within the block, this process makes and exports traces; `ratio` is the share of new traces
    that is sampled. `resource` describes the process to the collector.
    """
    traces = _Running(collector, ratio, resource)
    try:
        yield
    finally:
        await traces.end()
