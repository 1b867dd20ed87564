"""OpenTelemetry's own collector takes the traces of the running program."""

from __future__ import annotations

import re
import socket
import subprocess
from contextlib import contextmanager

import pytest
import yaml

from tests.support import patience

pytest.importorskip("opentelemetry.sdk")

from tests.support.programs import go_tools
from tests.support.programs.program import eventually

pytestmark = pytest.mark.load


@contextmanager
def collecting(directory):
    """The collector: its URL, and a function that returns what it has printed of the spans."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    settings = {
        "receivers": {"otlp": {"protocols": {"http": {"endpoint": address}}}},
        "exporters": {"debug": {"verbosity": "detailed"}},
        "service": {
            "pipelines": {"traces": {"receivers": ["otlp"], "exporters": ["debug"]}},
            "telemetry": {"metrics": {"level": "none"}},
        },
    }
    (directory / "collector.yaml").write_text(yaml.safe_dump(settings))
    log = directory / "collector.log"
    command = [go_tools.collector(), f"--config={directory / 'collector.yaml'}"]
    with log.open("w") as output, subprocess.Popen(command, stderr=output) as process:
        try:
            eventually(
                lambda: "Everything is ready" in log.read_text(), "the collector", patience.SECONDS
            )
            yield f"http://{address}", log.read_text
        finally:
            process.terminate()


def test_a_missing_go_fails_where_the_suite_has_to_be_whole(monkeypatch, tmp_path):
    monkeypatch.setenv("CI", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(go_tools, "find", lambda: str(tmp_path / "no-go"))

    with pytest.raises((pytest.fail.Exception, OSError)):
        go_tools.collector()


@pytest.mark.gen_test(timeout=1900)  # the collector is compiled once
async def test_the_collector_takes_the_spans_of_a_sign_in(start_program, open_browser, tmp_path):
    with collecting(tmp_path) as (url, printed):
        program = start_program(
            "--processes", "2", IDP_OTLP_ENDPOINT=url, IDP_TRACE_RATIO="1", IDP_LOG_FORMAT="json"
        )
        await program.demo().tokens(open_browser(program), *program.user)
        program.stop()
        text = printed()

    names = set(re.findall(r"^ +Name +: (.*)$", text, re.MULTILINE))
    assert {"POST /ui/login/password", "POST /oauth/v2/token", "store.batch", "hash"} <= names
    assert "SpanLink #0" in text
    assert "service.name: Str(idp)" in text
    assert "Failed to export" not in program.printed
