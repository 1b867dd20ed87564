"""The compose file by the loader that Compose uses, and the balancer's settings by haproxy."""

from __future__ import annotations

import shutil

import pytest
import yaml

from tests.deploy.conftest import run
from tests.support import debian, go_tools
from tests.test_house import ROOT

pytestmark = pytest.mark.deep

COMPOSE = ROOT / "deploy" / "compose"


def test_it_loads(tmp_path):
    directory = shutil.copytree(COMPOSE, tmp_path / "compose")
    (directory / "replica-set.key").write_text("a key\n")
    model = yaml.safe_load(run(go_tools.program("compose-go"), directory / "compose.yaml"))

    assert model["services"].keys() >= {"idp", "group1", "group2", "balancer", "mongo1"}


def test_haproxy_takes_its_settings(tmp_path):
    debian.need("haproxy")
    text = (COMPOSE / "haproxy.cfg").read_text()
    file = tmp_path / "haproxy.cfg"
    file.write_text(
        text.replace("group1:8080", "127.0.0.1:1").replace("group2:8080", "127.0.0.1:2")
    )

    run("/usr/sbin/haproxy", "-c", "-f", file)
