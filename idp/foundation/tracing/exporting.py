"""The export of spans to a collector, by OTLP over HTTP, from a bounded queue and in a thread."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final

from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

from idp.foundation import tracing
from idp.foundation.daemon_threads import DaemonThreads
from idp.foundation.tracing.spans import Spans
from idp.foundation.tracing.store_spans import StoreSpans

MAX_QUEUE: Final = 2048
EVERY_SECONDS: Final = 2.0
ANSWER_SECONDS: Final = 5.0  # for one batch, with its repetitions
# At the end of the process, which the supervisor gives 5 s beside the time for requests.
FLUSH_SECONDS: Final = 3.0

_library: Final = logging.getLogger("opentelemetry.exporter")


@asynccontextmanager
async def running(
    url: str, headers: Mapping[str, str], ratio: float, resource: Mapping[str, str]
) -> AsyncIterator[None]:
    """Within the block, this process makes spans, and sends them to the collector at `url`, which
    ends in `/v1/traces`, with these headers; `ratio` is the share of new traces that is sampled.
    `resource` describes the process to the collector.
    """
    _library.setLevel(logging.ERROR)  # one line for each batch that is lost, none for repetitions
    exporter = OTLPSpanExporter(
        url, headers=dict(headers), timeout=ANSWER_SECONDS, compression=Compression.Gzip
    )
    provider = TracerProvider(
        ParentBased(TraceIdRatioBased(ratio)), Resource(dict(resource)), shutdown_on_exit=False
    )
    provider.add_span_processor(
        BatchSpanProcessor(
            exporter, max_queue_size=MAX_QUEUE, schedule_delay_millis=EVERY_SECONDS * 1000
        )
    )
    spans = Spans(provider)
    tracing.use(spans, [StoreSpans(spans)])
    try:
        yield
    finally:
        tracing.use(None)
        # The process does not wait for this thread at its end, as it would for the loop's own.
        flush = DaemonThreads().submit(provider.shutdown)
        await asyncio.wait([asyncio.wrap_future(flush)], timeout=FLUSH_SECONDS)
