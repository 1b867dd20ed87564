"""Which settings of traces are refused, and that nothing of the file of headers is shown."""

from __future__ import annotations

import pytest

from idp.config.loading import load
from idp.config.settings import Config
from idp.foundation import tracing
from idp.foundation.errors import ConfigError
from idp.start import traces

ENDPOINT = "http://127.0.0.1:4318"


@pytest.fixture
def headers_of(tmp_path, monkeypatch):
    monkeypatch.setattr(tracing, "is_installed", lambda: True)
    file = tmp_path / "headers"

    def read(content):
        if content is not None:
            file.write_bytes(content)
        config = Config(otlp_endpoint=ENDPOINT, otlp_headers_file=str(file))
        traces.check(config)
        return traces._headers(config)

    return read


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"authorization: Bearer planted\n", "line 1 is not name=value"),
        (b"a=b\nplanted\n", "line 2 is not name=value"),
        (b"planted=\n", "line 1 is not name=value"),
        (b"=planted\n", "line 1 is not name=value"),
        (b"a=planted\x00\n", "line 1 is not name=value"),
        (b"a=planted\xff\n", "it is not UTF-8"),
        (None, "No such file or directory"),
    ],
)
def test_unusable_headers_are_refused_without_being_shown(headers_of, content, reason):
    with pytest.raises(ConfigError) as refused:
        headers_of(content)

    (problem,) = refused.value.problems
    assert problem.startswith("otlp_headers_file")
    assert reason in problem
    assert "planted" not in problem


def test_headers_are_a_line_each(headers_of):
    found = headers_of(b"authorization=Basic YTpiPQ==\r\n\n  x-tenant = a b \n")

    assert found == {"authorization": "Basic YTpiPQ==", "x-tenant": "a b"}


def test_an_endpoint_without_the_libraries_is_refused(monkeypatch):
    monkeypatch.setattr(tracing, "is_installed", lambda: False)

    with pytest.raises(ConfigError) as refused:
        traces.check(Config(otlp_endpoint=ENDPOINT))

    assert "install idp[otel]" in refused.value.problems[0]


def test_without_an_endpoint_no_library_is_needed(monkeypatch):
    monkeypatch.setattr(tracing, "is_installed", lambda: pytest.fail("asked"))
    traces.check(Config())


@pytest.mark.parametrize(
    "endpoint",
    [
        "127.0.0.1:4318",
        "grpc://collector:4317",
        "http://",
        "http://user:planted@collector:4318",
        "http://collector:4318?key=planted",
        "http://collector:4318#x",
        "http://collector:port",
        "http://coll ector",
    ],
)
def test_an_endpoint_that_is_no_base_url_is_refused(endpoint):
    with pytest.raises(ConfigError) as refused:
        load({"otlp_endpoint": endpoint}, {})

    assert "otlp_endpoint must be the base URL" in str(refused.value.problems)
    assert "planted" not in str(refused.value.problems)


@pytest.mark.parametrize("endpoint", ["https://otlp.example.com/tenant", "http://[::1]:4318/"])
def test_a_base_url_is_accepted(endpoint):
    assert load({"otlp_endpoint": endpoint}, {}).config.otlp_endpoint == endpoint


def test_headers_without_an_endpoint_are_refused():
    with pytest.raises(ConfigError) as refused:
        load({"otlp_headers_file": "x"}, {})

    assert "has an effect only with otlp_endpoint" in refused.value.problems[0]


@pytest.mark.parametrize(("text", "ratio"), [("0", 0.0), ("1", 1.0), ("0.05", 0.05)])
def test_a_ratio_is_a_number_from_0_to_1(text, ratio):
    assert load({}, {"IDP_TRACE_RATIO": text}).config.trace_ratio == ratio


@pytest.mark.parametrize("text", ["1.01", "-0.1", "nan", "inf", "1e-2", ".5", "0_1", "half", " 1"])
def test_any_other_ratio_is_refused(text):
    with pytest.raises(ConfigError) as refused:
        load({}, {"IDP_TRACE_RATIO": text})

    assert refused.value.problems[0].startswith("trace_ratio must be")
