"""The alerts for Prometheus: each fires when it should, and only then."""

from __future__ import annotations

import re

import pytest
import yaml

from idp.cli import event_export
from idp.foundation import metrics
from tests.deploy.conftest import run
from tests.support.documents import headings
from tests.support.programs import debian
from tests.support.repository import ROOT

ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yaml"
RULES = yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"][0]["rules"]
TARGET = 'job="idp",instance="one"'
DAY = 86_400

# For each alert, the series with which it fires and those with which it does not, a value a minute
# in promtool's notation. Time begins at 0, so an instant is the number of seconds since.
CASES = {
    "IdpDown": ({"up": "0x150"}, {"up": "1x150"}),
    "IdpWorkerHung": (
        {'idp_worker_heartbeat_age_seconds{worker="1"}': "10x150"},
        {'idp_worker_heartbeat_age_seconds{worker="1"}': "0.3x150"},
    ),
    "IdpWorkerFlapping": (
        {'idp_worker_restarts_total{reason="signal"}': "0+1x150"},
        {'idp_worker_restarts_total{reason="signal"}': "0x110 1x40"},
    ),
    "IdpErrorsHigh": (
        {
            'idp_http_requests_total{status="200"}': "0+100x150",
            'idp_http_requests_total{status="503"}': "0+5x150",
        },
        {
            'idp_http_requests_total{status="200"}': "0+1000x150",
            'idp_http_requests_total{status="503"}': "0+5x150",
        },
    ),
    "IdpSlow": (
        {
            'idp_http_request_duration_seconds_bucket{le="1.0"}': "0+9x150",
            'idp_http_request_duration_seconds_bucket{le="2.5"}': "0+10x150",
            'idp_http_request_duration_seconds_bucket{le="+Inf"}': "0+10x150",
        },
        {
            'idp_http_request_duration_seconds_bucket{endpoint="events",le="1.0"}': "0x150",
            'idp_http_request_duration_seconds_bucket{endpoint="events",le="+Inf"}': "0+10x150",
            'idp_http_request_duration_seconds_bucket{le="1.0"}': "0+10x150",
            'idp_http_request_duration_seconds_bucket{le="2.5"}': "0+10x150",
            'idp_http_request_duration_seconds_bucket{le="+Inf"}': "0+10x150",
        },
    ),
    "IdpLoopLag": (
        {
            'idp_event_loop_lag_seconds_bucket{le="0.25"}': "0+9x150",
            'idp_event_loop_lag_seconds_bucket{le="0.5"}': "0+10x150",
            'idp_event_loop_lag_seconds_bucket{le="+Inf"}': "0+10x150",
        },
        {
            'idp_event_loop_lag_seconds_bucket{le="0.25"}': "0+10x150",
            'idp_event_loop_lag_seconds_bucket{le="0.5"}': "0+10x150",
            'idp_event_loop_lag_seconds_bucket{le="+Inf"}': "0+10x150",
        },
    ),
    "IdpHashingSaturated": (
        {
            "idp_hashing_running": "2x150",
            "idp_hashing_threads": "2x150",
            "idp_hashing_waiting": "9x150",
        },
        {
            "idp_hashing_running": "2x150",
            "idp_hashing_threads": "2x150",
            "idp_hashing_waiting": "0x150",
        },
    ),
    "IdpStoreUnwritable": ({"idp_store_writable": "0x150"}, {"idp_store_writable": "1x150"}),
    "IdpDiskLow": (
        {"idp_disk_free_bytes": "9x150", "idp_disk_size_bytes": "100x150"},
        {"idp_disk_free_bytes": "11x150", "idp_disk_size_bytes": "100x150"},
    ),
    "IdpOutboxStuck": (
        {'idp_outbox_oldest_seconds{channel="message"}': "1000x150"},
        {'idp_outbox_oldest_seconds{channel="message"}': "800x150"},
    ),
    "IdpJobStale": (
        {
            'idp_job_last_success_timestamp_seconds{task="keys"}': "0x150",
            'idp_job_interval_seconds{task="keys"}': "60x150",
        },
        {
            'idp_job_last_success_timestamp_seconds{task="keys"}': "0+60x150",
            'idp_job_interval_seconds{task="keys"}': "60x150",
        },
    ),
    "IdpKeyOverdue": (
        {
            'idp_key_age_seconds{algorithm="RS256",state="active"}': f"{40 * DAY}x150",
            "idp_key_rotation_seconds": f"{30 * DAY}x150",
        },
        {
            'idp_key_age_seconds{algorithm="RS256",state="active"}': f"{30 * DAY}x150",
            'idp_key_age_seconds{algorithm="RS256",state="retired"}': f"{90 * DAY}x150",
            "idp_key_rotation_seconds": f"{30 * DAY}x150",
        },
    ),
    "IdpCertificateExpires": (
        {"idp_certificate_expiry_timestamp_seconds": f"{13 * DAY}x150"},
        {"idp_certificate_expiry_timestamp_seconds": f"{15 * DAY}x150"},
    ),
    "IdpBackupOld": (
        {"idp_backup_last_success_timestamp_seconds": f"{-26 * 3600}x150"},
        {"idp_backup_last_success_timestamp_seconds": f"{-25 * 3600}x150"},
    ),
    "IdpGuessing": (
        {
            'idp_sign_ins_total{outcome="wrong",method="password"}': "0+200x150",
            'idp_sign_ins_total{outcome="accepted",method="password"}': "0+60x150",
        },
        {
            'idp_sign_ins_total{outcome="wrong",method="password"}': "0+100x150",
            'idp_sign_ins_total{outcome="accepted",method="password"}': "0+60x150",
        },
    ),
    "IdpRefreshReplays": (
        {'idp_refreshes_total{outcome="replayed"}': "0+1x150"},
        {'idp_refreshes_total{outcome="rotated"}': "0+900x150"},
    ),
    "IdpAuditLag": (
        {"idp_audit_unsealed_oldest_seconds": "1300x150"},
        {"idp_audit_unsealed_oldest_seconds": "900x150"},
    ),
    "IdpAuditExportLag": (
        {"idp_audit_export_up_to_date_timestamp_seconds": "0x150"},
        {"idp_audit_export_up_to_date_timestamp_seconds": "0+60x150"},
    ),
}

# Series with which alerts fire that a single case does not show.
ALSO_FIRES = [
    ("IdpWorkerFlapping", {'idp_worker_restarts_total{reason="signal"}': "0x115 4x35"}),
    ("IdpWorkerHung", {'idp_worker_restarts_total{reason="hung"}': "0x115 1x35"}),
    # Processes that never do the job, and ones that restart and don't do it any more.
    ("IdpJobStale", {'idp_job_interval_seconds{task="keys"}': "60x150"}),
    (
        "IdpJobStale",
        {
            'idp_job_last_success_timestamp_seconds{task="keys"}': "0+60x60 _x90",
            'idp_job_interval_seconds{task="keys"}': "60x150",
        },
    ),
    (
        "IdpGuessing",
        {
            'idp_sign_ins_total{outcome="wrong",method="password"}': "0+200x150",
            'idp_sign_ins_total{outcome="accepted",method="password"}': "0x150",
        },
    ),
    ("IdpRefreshReplays", {'idp_refreshes_total{outcome="replayed"}': "0x115 11x35"}),
]


def with_target(series):
    """The series with the labels that Prometheus gives a target."""
    name, _, labels = series.partition("{")
    return f"{name}{{{TARGET}{',' + labels if labels else '}'}"


def rule_test(alert, series, *, fires):
    """One test of promtool: after two hours the alert fires, or no alert of its name does."""
    expression = f'count(ALERTS{{alertname="{alert}",alertstate="firing"}})'
    samples = [{"labels": "{}", "value": 1}] if fires else []
    return {
        "name": f"{alert} {'fires' if fires else 'is silent'}",
        "interval": "1m",
        "input_series": [
            {"series": with_target(name), "values": values} for name, values in series.items()
        ],
        "promql_expr_test": [{"expr": expression, "eval_time": "120m", "exp_samples": samples}],
    }


def test_every_alert_has_a_severity_a_summary_and_a_section_of_the_manual():
    anchors = headings(ROOT / "docs" / "how-to" / "observing.md")

    for rule in RULES:
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert rule["annotations"]["summary"].endswith(".")
        page, _, anchor = rule["annotations"]["runbook"].partition("#")
        assert (page, anchor) == ("docs/how-to/observing.md", rule["alert"].lower())
        assert anchor in anchors


def test_alerts_use_metrics_that_are_declared():
    suffixes = re.compile(r"_(bucket|sum|count)$")
    used = {
        suffixes.sub("", name)
        for rule in RULES
        for name in re.findall(r"\bidp_(\w+)", rule["expr"])
    }

    assert used <= {*metrics.DECLARED, event_export.UP_TO_DATE.removeprefix(metrics.PREFIX)}


def test_every_alert_has_a_case_in_which_it_fires_and_one_in_which_it_does_not():
    assert [rule["alert"] for rule in RULES] == list(CASES)


@pytest.mark.load
def test_promtool_finds_the_alerts_well_formed_and_firing_in_their_cases_only(tmp_path):
    debian.need(promtool="prometheus")
    tests = [
        rule_test(alert, series, fires=fires)
        for alert, cases in CASES.items()
        for series, fires in zip(cases, (True, False), strict=True)
    ]
    tests += [rule_test(alert, series, fires=True) for alert, series in ALSO_FIRES]
    if len(tests) != 2 * len(RULES) + len(ALSO_FIRES):
        pytest.fail("an alert has no case")
    file = tmp_path / "tests.yaml"
    content = {"rule_files": [str(ALERTS)], "evaluation_interval": "1m", "tests": tests}
    file.write_text(yaml.safe_dump(content))

    run("promtool", "check", "rules", "--lint=all", "--lint-fatal", ALERTS)
    run("promtool", "test", "rules", file)


@pytest.mark.load
def test_a_case_in_which_an_alert_should_not_fire_but_does_is_found(tmp_path):
    debian.need(promtool="prometheus")
    file = tmp_path / "tests.yaml"
    wrong = rule_test("IdpDown", CASES["IdpDown"][0], fires=False)
    file.write_text(yaml.safe_dump({"rule_files": [str(ALERTS)], "tests": [wrong]}))

    with pytest.raises(pytest.fail.Exception):
        run("promtool", "test", "rules", file)
