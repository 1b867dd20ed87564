"""Traces: the span of each request, and whose `traceparent` decides what is sampled."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("opentelemetry.sdk")

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

from handlers.http import route_templates
from idp.foundation import tracing
from idp.foundation.tracing.spans import Spans
from idp.foundation.tracing.store_spans import StoreSpans
from storage import Unavailable
from tests.support.measured.logged import logged

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"
SAMPLED = f"00-{TRACE}-{PARENT}-01"
NOT_SAMPLED = f"00-{TRACE}-{PARENT}-00"


@pytest.fixture
def sampling():
    """Turns traces on; `sampling(ratio)` returns the list of the spans that have ended."""
    exporter = InMemorySpanExporter()

    def start(ratio=1.0):
        provider = TracerProvider(sampler=ParentBased(TraceIdRatioBased(ratio)))
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        spans = Spans(provider)
        tracing.use(spans, [StoreSpans(spans)])
        return exporter.get_finished_spans

    yield start
    tracing.use(None)


@pytest.fixture
def settings(request):
    return getattr(request, "param", {})


behind_proxy = pytest.mark.parametrize(
    "settings", [{"trusted_proxies": ("127.0.0.0/8",)}], indirect=True
)


def server_span(spans):
    (span,) = [each for each in spans() if each.kind.name == "SERVER"]
    return span


def access_line(stream):
    lines = [json.loads(each) for each in stream.getvalue().splitlines()]
    (found,) = [each for each in lines if each["event"] == "request"]
    return found


async def healthz(visitor, traceparent=None):
    headers = {"traceparent": traceparent} if traceparent else {}
    return await visitor.open("/healthz", headers=headers)


async def test_a_request_is_a_span_with_its_route_status_and_id(visitor, sampling):
    spans = sampling()
    page = await healthz(visitor)

    span = server_span(spans)
    assert span.name == "GET /healthz"
    assert span.parent is None
    assert dict(span.attributes) == {
        "http.request.method": "GET",
        "http.route": "/healthz",
        "http.response.status_code": 200,
        "idp.request_id": page.headers["X-Request-Id"],
    }


async def test_without_traces_a_request_has_no_span_and_keeps_the_callers_trace(visitor):
    with logged("debug") as stream:
        await healthz(visitor, SAMPLED)

    line = access_line(stream)
    assert line["trace_id"] == TRACE
    assert "span_id" not in line


async def test_a_strangers_trace_is_linked_and_does_not_decide_what_is_sampled(visitor, sampling):
    spans = sampling()
    await healthz(visitor, NOT_SAMPLED)

    span = server_span(spans)
    assert span.parent is None
    assert f"{span.context.trace_id:032x}" != TRACE
    assert [f"{link.context.span_id:016x}" for link in span.links] == [PARENT]


async def test_a_stranger_can_not_have_traces_sampled(visitor, sampling):
    spans = sampling(ratio=0.0)
    await healthz(visitor, SAMPLED)

    assert spans() == ()


@behind_proxy
async def test_a_trusted_proxys_trace_is_continued_and_sampled(visitor, sampling):
    spans = sampling(ratio=0.0)
    await healthz(visitor, SAMPLED)

    span = server_span(spans)
    assert f"{span.context.trace_id:032x}" == TRACE
    assert f"{span.parent.span_id:016x}" == PARENT
    assert not span.links


@behind_proxy
async def test_what_a_trusted_proxy_does_not_sample_is_not_sampled(visitor, sampling):
    spans = sampling(ratio=1.0)
    await healthz(visitor, NOT_SAMPLED)

    assert spans() == ()


@behind_proxy
@pytest.mark.parametrize(
    "header",
    [
        "",
        "00",
        f"ff-{TRACE}-{PARENT}-01",
        f"00-{'0' * 32}-{PARENT}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{PARENT}-01",
        f"00-{TRACE}-{PARENT}-01-more",
        f"00-{TRACE}-{PARENT}-1",
    ],
)
async def test_a_malformed_traceparent_begins_a_new_trace(visitor, sampling, header):
    spans = sampling()
    await healthz(visitor, header)

    span = server_span(spans)
    assert span.parent is None
    assert not span.links


async def test_log_lines_have_the_trace_and_the_span_of_their_request(visitor, sampling):
    spans = sampling()
    with logged("debug") as stream:
        await healthz(visitor, SAMPLED)

    line = access_line(stream)
    span = server_span(spans)
    assert line["trace_id"] == f"{span.context.trace_id:032x}"
    assert line["span_id"] == f"{span.context.span_id:016x}"


async def test_a_request_that_is_not_sampled_has_a_trace_in_its_log_lines(visitor, sampling):
    sampling(ratio=0.0)
    with logged("debug") as stream:
        await healthz(visitor)

    line = access_line(stream)
    assert len(line["trace_id"]) == 32
    assert len(line["span_id"]) == 16


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("GET", "/admin/v1/no/such/4711", "GET /admin/{}"),
        ("GET", "/nowhere/4711", "GET"),
        ("BREW", "/healthz", "HTTP"),
    ],
)
async def test_a_path_without_a_route_is_not_in_the_name(visitor, sampling, method, path, name):
    spans = sampling()
    await visitor.request(method, path)

    span = server_span(spans)
    assert span.name.startswith(name)
    assert "4711" not in str(span.attributes)
    assert span.attributes["http.request.method"] in ("GET", "_OTHER")


async def test_ids_in_a_path_are_replaced_by_the_routes_template(server):
    app = server.app

    assert app.route("/oauth/v2/token") == "/oauth/v2/token"
    assert app.route("/v2/users/4711") == "/v2/users/{userId}"
    assert app.route("/ui/console/users/4711/edit") == "/ui/console/users/{}/edit"
    assert app.route("/ui/static/a/b.css") == "/ui/static/{}"
    assert app.route("/.well-known/change-password") == "/.well-known/change-password"
    assert app.route("/nowhere") == ""


def test_no_template_of_a_route_keeps_a_part_of_a_pattern(server):
    odd = [
        spec.regex.pattern
        for spec in server.app._patterns
        if set(route_templates._of_pattern(spec.regex.pattern)) & set("()[]*+?|\\^$")
    ]

    assert odd == []


async def test_a_failure_of_the_service_is_an_error_of_the_span(
    server, visitor, sampling, monkeypatch
):
    async def away(*_, **__):
        raise Unavailable("away")

    spans = sampling()
    monkeypatch.setattr(type(server.store), "get_many", away)
    visitor.may_fail = True
    await visitor.post("/oauth/v2/introspect", {"client_id": "a", "client_secret": "b"})

    span = server_span(spans)
    assert span.attributes["http.response.status_code"] == 503
    assert span.attributes["error.type"] == "503"
    assert span.status.status_code.name == "ERROR"


async def test_a_refusal_names_its_check_and_the_known_client(visitor, demo, sampling):
    spans = sampling()
    form = {"grant_type": "authorization_code", "code": "x", "redirect_uri": demo.redirect_uri}
    page = await demo.token(visitor, form)

    span = server_span(spans)
    assert page.status == 400
    assert span.name == "POST /oauth/v2/token"
    assert span.attributes["idp.client_id"] == demo.client_id
    assert span.attributes["idp.refused.check"] == "code_known"
    assert span.status.status_code.name == "UNSET"


async def test_an_unknown_client_is_not_named(visitor, demo, sampling):
    spans = sampling()
    await visitor.post(
        "/oauth/v2/token", {"grant_type": "client_credentials", "client_id": "planted"}
    )

    span = server_span(spans)
    assert "idp.client_id" not in span.attributes
    assert span.attributes["idp.refused.check"] == "client_known"


async def test_a_hash_is_a_span_of_its_sign_in(server, visitor, demo, sampling):
    spans = sampling()
    await demo.tokens_by_pages(visitor, *server.user)

    (hashed,) = [each for each in spans() if each.name == "hash"]
    (parent,) = [each for each in spans() if each.context.span_id == hashed.parent.span_id]
    assert parent.name == "POST /ui/login/password"
    assert hashed.attributes["idp.hash.scheme"] == "argon2id"
    assert hashed.attributes["idp.hash.waited_seconds"] >= 0
