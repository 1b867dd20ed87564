"""A collector of traces: decodes what it is sent by OTLP over HTTP, and keeps the spans.

Fixture::

    collector       one on loopback
"""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


@dataclass
class CollectedSpan:
    """A span as it arrived. `links` are the ids of the spans that it is linked to."""

    name: str
    kind: str
    trace: str
    id: str
    parent: str
    seconds: float
    attributes: dict[str, Any] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)
    linked_traces: list[str] = field(default_factory=list)
    is_failed: bool = False


class Collector:
    """`status` is its answer. `headers` are those of the requests, and `bodies` what they held."""

    def __init__(self) -> None:
        self.status = 200
        self.spans: list[CollectedSpan] = []
        self.resources: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.bodies: list[bytes] = []
        self._news = threading.Condition()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def named(self, name: str) -> list[CollectedSpan]:
        return [span for span in self.spans if span.name == name]

    def of_trace(self, trace: str) -> list[CollectedSpan]:
        return [span for span in self.spans if span.trace == trace]

    def wait_for(self, number: int, seconds: float = 20.0) -> None:
        """Returns when this number of requests has arrived."""
        with self._news:
            assert self._news.wait_for(lambda: len(self.bodies) >= number, seconds)

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.take(self.path, dict(self.headers), gzip.decompress(body))
                self.send_response(collector.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler

    def take(self, path: str, headers: dict[str, str], body: bytes) -> None:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
            ExportTraceServiceRequest,
        )

        assert path == "/v1/traces"
        request = ExportTraceServiceRequest.FromString(body)
        with self._news:
            self.headers.append(headers)
            self.bodies.append(body)
            for resource in request.resource_spans:
                self.resources.append(_attributes(resource.resource))
                if self.status == 200:
                    self.spans += [
                        _collected(span) for scope in resource.scope_spans for span in scope.spans
                    ]
            self._news.notify_all()


def _collected(span: Any) -> CollectedSpan:
    return CollectedSpan(
        span.name,
        span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_"),
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        (span.end_time_unix_nano - span.start_time_unix_nano) / 1e9,
        _attributes(span),
        [link.span_id.hex() for link in span.links],
        [link.trace_id.hex() for link in span.links],
        span.status.code == 2,
    )


def _attributes(item: Any) -> dict[str, Any]:
    return {
        each.key: getattr(each.value, each.value.WhichOneof("value")) for each in item.attributes
    }


@pytest.fixture
def collector() -> Iterator[Collector]:
    collector = Collector()
    yield collector
    collector.close()
