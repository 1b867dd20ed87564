"""The chart by Helm's and Kubernetes' own rules: each set of values in its folder `ci`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from tests.deploy import openapi_schemas
from tests.deploy.conftest import run
from tests.support.programs import go_tools
from tests.support.repository import ROOT

pytestmark = pytest.mark.load

CHART = ROOT / "deploy" / "helm" / "idp"
VALUES = sorted((CHART / "ci").glob("*.yaml"))
KINDS = {"Job", "NetworkPolicy", "PodDisruptionBudget", "Service"}


@pytest.fixture(scope="module")
def helm() -> str:
    return go_tools.program("helm")


@pytest.fixture(scope="module")
def schemas(tmp_path_factory) -> str:
    openapi = go_tools.module(go_tools.KUBERNETES) / "api" / "openapi-spec" / "swagger.json"
    return openapi_schemas.write(openapi, tmp_path_factory.mktemp("schemas"))


def rendered(helm: str, values: Path) -> str:
    return run(helm, "template", "login", CHART, "--values", values)


def refusal(helm: str, values: Path, *settings: str) -> str:
    command = [helm, "template", "login", str(CHART), "--values", str(values)]
    command += [part for setting in settings for part in ("--set", setting)]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode, ran.stdout
    return ran.stderr


def test_there_are_six_sets_of_values():
    assert len(VALUES) == 6


@pytest.mark.parametrize("values", VALUES, ids=lambda path: path.stem)
def test_helm_finds_nothing_wrong(helm, values):
    run(helm, "lint", "--strict", CHART, "--values", values)


@pytest.mark.parametrize("values", VALUES, ids=lambda path: path.stem)
def test_every_object_is_one_that_kubernetes_takes(helm, schemas, tmp_path, values):
    file = tmp_path / "objects.yaml"
    file.write_text(rendered(helm, values))
    kubeconform = go_tools.program("kubeconform")

    run(kubeconform, "-strict", "-summary", "-schema-location", schemas, file)


def test_a_misspelt_field_is_found_by_this_check(helm, schemas, tmp_path):
    file = tmp_path / "objects.yaml"
    file.write_text(rendered(helm, VALUES[0]).replace("terminationGrace", "terminationgrace"))
    command = [go_tools.program("kubeconform"), "-strict", "-schema-location", schemas, str(file)]

    assert subprocess.run(command, capture_output=True).returncode


@pytest.mark.parametrize("values", VALUES, ids=lambda path: path.stem)
def test_every_pod_is_restricted_and_ends_in_time(helm, values):
    objects = [each for each in yaml.safe_load_all(rendered(helm, values)) if each]
    specs = {each["kind"]: each["spec"] for each in objects}
    specs = {kind: spec.get("jobTemplate", {}).get("spec", spec) for kind, spec in specs.items()}
    pods = {kind: spec["template"]["spec"] for kind, spec in specs.items() if "template" in spec}

    assert len(pods.keys() & {"Deployment", "StatefulSet"}) == 1
    assert pods.keys() - {"Deployment", "StatefulSet", "CronJob"} == {"Job"}
    assert ("CronJob" in pods) is ("backup" in yaml.safe_load(values.read_text()))
    for pod in pods.values():
        (container,) = pod["containers"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
    given = yaml.safe_load(values.read_text())
    delay, drain = given.get("shutdownDelaySeconds", 5), given.get("drainSeconds", 20)
    server = next(pod for kind, pod in pods.items() if kind in ("Deployment", "StatefulSet"))
    assert server["terminationGracePeriodSeconds"] == delay + drain + 10


def test_a_replica_of_sqlite_has_a_stateful_set_and_replicas_of_mongodb_a_deployment(helm):
    kinds = {
        name: {
            each["kind"]
            for each in yaml.safe_load_all(rendered(helm, CHART / "ci" / name))
            if each
        }
        for name in ("sqlite.yaml", "mongodb.yaml")
    }

    assert kinds["sqlite.yaml"] == KINDS - {"PodDisruptionBudget"} | {"StatefulSet", "CronJob"}
    assert kinds["mongodb.yaml"] == KINDS | {"Deployment"}


def test_stored_records_are_upgraded_before_the_first_new_pod_of_several(helm):
    def upgrades(values):
        objects = yaml.safe_load_all(rendered(helm, CHART / "ci" / values))
        return [
            each["spec"]["template"]["spec"]["containers"][0]["args"]
            for each in filter(None, objects)
            if each["metadata"].get("annotations", {}).get("helm.sh/hook") == "pre-upgrade"
        ]

    assert upgrades("mongodb.yaml") == [["schema", "upgrade"]]
    assert upgrades("sqlite.yaml") == []


def test_only_who_is_named_may_scrape_and_a_monitor_is_made_where_it_is_wanted(helm):
    values = CHART / "ci" / "mongodb.yaml"
    peers = 'metrics.from=[{"podSelector": {"matchLabels": {"app": "prometheus"}}}]'
    given = ("--set", "metrics.serviceMonitor.enabled=true", "--set-json", peers)
    text = run(helm, "template", "login", CHART, "--values", values, *given)
    monitored = [each for each in yaml.safe_load_all(text) if each]
    plain = [each for each in yaml.safe_load_all(rendered(helm, values)) if each]

    def ports(objects):
        (policy,) = [each for each in objects if each["kind"] == "NetworkPolicy"]
        return [rule["ports"][0]["port"] for rule in policy["spec"]["ingress"]]

    assert (ports(plain), ports(monitored)) == ([8080], [8080, 9464])
    (monitor,) = [each for each in monitored if each["kind"] == "ServiceMonitor"]
    services = [each for each in monitored if each["kind"] == "Service"]
    wanted = monitor["spec"]["selector"]["matchLabels"].items()
    (scraped,) = [each for each in services if wanted <= each["metadata"]["labels"].items()]
    assert scraped["spec"]["ports"][0]["name"] == monitor["spec"]["endpoints"][0]["port"]
    assert {each["metadata"]["name"] for each in services} == {"login-idp", "login-idp-metrics"}


def test_helm_refuses_what_the_schema_refuses(helm):
    said = refusal(helm, CHART / "ci" / "sqlite.yaml", "replicas=2")

    assert "replicas" in said


def test_a_number_of_any_size_reaches_the_service_as_it_was_written(helm):
    text = rendered(helm, CHART / "ci" / "ingress.yaml")

    assert 'value: "8589934592"' in text


def test_a_backup_of_sqlite_runs_beside_the_service_and_at_a_minute_of_its_own(helm):
    jobs = {
        name: next(
            each
            for each in yaml.safe_load_all(rendered(helm, CHART / "ci" / name))
            if each and each["kind"] == "CronJob"
        )["spec"]
        for name in ("sqlite.yaml", "pinned.yaml")
    }
    hourly, daily = jobs["sqlite.yaml"], jobs["pinned.yaml"]

    assert 0 <= int(hourly["schedule"].removesuffix(" * * * *")) < 60
    assert daily["schedule"] == "30 2 * * *"
    pods = [each["jobTemplate"]["spec"]["template"]["spec"] for each in (hourly, daily)]
    assert "podAffinity" in pods[0]["affinity"]
    assert pods[1]["nodeSelector"] == {"kubernetes.io/arch": "arm64"}
    assert pods[1]["volumes"][-1]["secret"]["items"] == [{"key": "word", "path": "passphrase"}]
