"""The dashboard for Grafana: it shows every metric, and nothing that does not exist."""

from __future__ import annotations

import json
import re

import pytest
import yaml

from idp.foundation import metrics
from tests.deploy.conftest import run
from tests.support import metrics_table
from tests.support.programs import debian
from tests.support.repository import ROOT

BOARD = json.loads((ROOT / "deploy" / "grafana" / "idp.json").read_text(encoding="utf-8"))
ROWS = ["Traffic", "Sign-in", "Protocol", "Store", "Workers", "Background"]
PANELS = [panel for panel in BOARD["panels"] if panel["type"] != "row"]
EXPRESSIONS = [target["expr"] for panel in PANELS for target in panel["targets"]]


def shown():
    """The metrics of the expressions, without the endings of a histogram's series."""
    names = {name for each in EXPRESSIONS for name in re.findall(r"\bidp_(\w+)", each)}
    histograms = {
        name
        for name, metric in metrics.DECLARED.items()
        if isinstance(metric, metrics.HistogramMetric)
    }
    endings = re.compile(r"_(bucket|sum|count)$")
    return {base if (base := endings.sub("", name)) in histograms else name for name in names}


def test_metrics_that_are_declared_documented_and_shown_are_the_same():
    page = (ROOT / "docs" / "reference" / "metrics.md").read_text(encoding="utf-8")

    assert shown() == set(metrics.DECLARED) == metrics_table.documented(page)


def test_every_label_is_explained():
    page = (ROOT / "docs" / "reference" / "metrics.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| (`[^|]*) \|", page, re.MULTILINE)
    explained = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}

    assert {label for each in metrics.DECLARED.values() for label in each.labels} <= explained


def test_labels_of_the_expressions_are_those_that_are_declared():
    declared = {label for metric in metrics.DECLARED.values() for label in metric.labels}
    grouped = {
        label.strip()
        for each in EXPRESSIONS
        for labels in re.findall(r"by \(([\w, ]+)\)", each)
        for label in labels.split(",")
    }

    assert grouped <= declared | {"le", "instance"}


def test_the_dashboard_has_its_rows_and_variables_and_each_panel_a_place():
    titles = [panel["title"] for panel in BOARD["panels"] if panel["type"] == "row"]
    variables = [variable["name"] for variable in BOARD["templating"]["list"]]
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in PANELS}

    assert titles == ROWS
    assert variables == ["datasource", "job", "instance"]
    assert len(places) == len(PANELS) == len({panel["title"] for panel in PANELS})
    assert all('{job=~"$job",instance=~"$instance"' in each for each in EXPRESSIONS)


@pytest.mark.load
def test_prometheus_reads_every_expression(tmp_path):
    debian.need(promtool="prometheus")
    rules = [
        {"record": f"panel:{number}", "expr": each.replace("$__rate_interval", "5m")}
        for number, each in enumerate(EXPRESSIONS)
    ]
    file = tmp_path / "rules.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))

    run("promtool", "check", "rules", file)
