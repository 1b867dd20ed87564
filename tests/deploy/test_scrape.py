"""Prometheus itself scrapes a service of two processes."""

from __future__ import annotations

import json
import socket
import subprocess
from contextlib import contextmanager, suppress
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
import yaml

from tests.program.telemetry.test_metrics import measured, metrics_port, started
from tests.support.programs import debian
from tests.support.programs.program import eventually

pytestmark = pytest.mark.load


@contextmanager
def prometheus(directory, port):
    """Prometheus, which scrapes this port every second; yields its own address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    targets = [{"targets": [f"127.0.0.1:{port}"]}]
    config = {
        "global": {"scrape_interval": "1s"},
        "scrape_configs": [{"job_name": "idp", "static_configs": targets}],
    }
    (directory / "prometheus.yaml").write_text(yaml.safe_dump(config))
    command = [
        "prometheus",
        f"--config.file={directory / 'prometheus.yaml'}",
        f"--storage.tsdb.path={directory / 'data'}",
        f"--web.listen-address={address}",
    ]
    with (directory / "log").open("w") as log, subprocess.Popen(command, stderr=log) as process:
        try:
            yield address
        finally:
            process.terminate()


def asked(address, query):
    """The values of a query; none while Prometheus starts."""
    with (
        suppress(URLError),
        urlopen(f"http://{address}/api/v1/query?{urlencode({'query': query})}") as answer,
    ):
        return [float(each["value"][1]) for each in json.load(answer)["data"]["result"]]
    return []


async def test_prometheus_scrapes_a_service_of_two_processes(
    start_program, open_browser, tmp_path
):
    debian.need("prometheus", promtool="prometheus")
    program = started(start_program, tmp_path, "--processes", "2")
    port = metrics_port(program)
    eventually(lambda: measured(program, 0) and measured(program, 1), "the workers' figures")
    await program.demo().tokens(open_browser(program), *program.user)
    with urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        text = answer.read()
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True)
    (tmp_path / "prometheus").mkdir()
    with prometheus(tmp_path / "prometheus", port) as address:
        up = eventually(lambda: asked(address, "up == 1"), "a scrape")
        workers = asked(address, "sum(idp_worker_up)")
        completed = asked(address, 'sum(idp_sign_ins_total{outcome="completed"})')

    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")
    assert (up, workers, completed) == ([1], [2], [1])
