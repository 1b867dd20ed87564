"""The files of `deploy/`: they name settings, versions and options that exist."""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess

import jsonschema
import pytest
import yaml

from idp import __version__
from idp.backup import retention
from idp.cli import main
from idp.config.settings import RANGES, TYPES
from tests.support.repository import ROOT, options, read, tracked

DEPLOY = ROOT / "deploy"
CHART = DEPLOY / "helm" / "idp"
VALUES = sorted((CHART / "ci").glob("*.yaml"))
SCRIPTS = ["image/build", "image/lock", "image/system", "release"]
PINS = ["build", "deploy", "sbom"]
# Hosts that are no registry's: this machine, an example, and the name of a language of schemas.
HOSTS = {"127.0.0.1", "localhost", "login.example.com", "json-schema.org", "registry.example.com"}
# The users of the images of others, who are not root.
KEY = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY"

_HOST = re.compile(r"(?<![\w:])https?://([\w.-]+)")
_VARIABLE = re.compile(r"\bIDP_([A-Z0-9_]+)\b")


def text(name: str) -> str:
    return (DEPLOY / name).read_text(encoding="utf-8")


def document(name: str):
    return yaml.safe_load(text(name))


def merged(values: dict, changes: dict) -> dict:
    """As Helm lays one set of values over another."""
    made = copy.deepcopy(values)
    for name, value in changes.items():
        both = isinstance(value, dict) and isinstance(made.get(name), dict)
        made[name] = merged(made[name], value) if both else value
    return made


@pytest.fixture
def schema() -> dict:
    return json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))


def values(name: str, **changes) -> dict:
    chosen = yaml.safe_load((CHART / "ci" / f"{name}.yaml").read_text(encoding="utf-8"))
    return merged(merged(document("helm/idp/values.yaml"), chosen), changes)


# Where things come from, and which version


def test_no_file_says_where_packages_come_from():
    files = [path for path in tracked() if DEPLOY in path.parents]
    named = {host for path in files for host in _HOST.findall(path.read_text(encoding="utf-8"))}
    images = re.findall(r"^ *image: (.*)$", text("compose/compose.yaml"), re.M)

    assert files
    assert named <= HOSTS
    assert not [name for name in images if "." in name.partition("/")[0] and "/" in name]


@pytest.mark.parametrize("name", PINS)
def test_what_is_pinned_is_pinned_by_hashes_alone(name):
    assert options(read(f"requirements/{name}.txt")) == {"--hash"}
    assert "://" not in read(f"requirements/{name}.txt")


def test_the_chart_and_the_compose_file_have_the_version_of_the_service():
    chart = document("helm/idp/Chart.yaml")

    version = __version__.replace(".dev", "-dev")  # a chart's is semantic
    assert (chart["version"], chart["appVersion"]) == (version, version)
    assert f"${{IDP_IMAGE:-idp:{__version__}}}" in text("compose/compose.yaml")


def test_the_lock_has_the_same_packages_for_each_architecture():
    lines = [line.split() for line in text("image/packages.lock").splitlines()[1:]]
    names = {arch: [line[1] for line in lines if line[0] == arch] for arch in ("amd64", "arm64")}

    assert all(re.fullmatch(r"[0-9a-f]{64}", digest) for *_, digest in lines)
    assert names["amd64"] == names["arm64"] == sorted(set(names["amd64"]))
    assert len(lines) == 2 * len(names["amd64"])
    assert {"python3-minimal", "ca-certificates", "tzdata"} <= set(names["amd64"])
    assert not {"bash", "busybox", "dash", "dpkg", "perl-base"} & set(names["amd64"])


# Scripts


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_ends_at_its_first_failure_and_is_valid(name):
    assert text(name).startswith("#!/usr/bin/env bash\n# ")
    assert "set -euo pipefail" in text(name).splitlines()
    assert os.access(DEPLOY / name, os.X_OK)
    assert subprocess.run(["bash", "-n", str(DEPLOY / name)]).returncode == 0


# Settings


def test_every_variable_is_a_setting_or_a_value_of_the_compose_file():
    build = set(re.findall(r"config\.env=IDP_([A-Z_]+)=", text("image/build")))
    chart = set(re.findall(r"name: IDP_([A-Z_]+)$", text("helm/idp/templates/_helpers.tpl"), re.M))
    services = document("compose/compose.yaml")["services"].values()
    composed = {name for each in services for name in each.get("environment") or {}}
    composed = {name.removeprefix("IDP_") for name in composed if name.startswith("IDP_")}

    used = {name.lower() for name in build | chart | composed}
    assert used
    assert used <= set(TYPES)


def test_the_settings_that_values_of_the_chart_name_exist():
    named = {
        name for path in VALUES for name in yaml.safe_load(path.read_text()).get("settings", ())
    }

    assert named
    assert named <= set(TYPES)


def test_the_chart_bounds_its_times_as_the_service_does(schema):
    assert schema["properties"]["drainSeconds"]["maximum"] == RANGES["drain_seconds"][1]
    refused = schema["properties"]["settings"]["propertyNames"]["not"]["enum"]
    assert set(refused) <= set(TYPES)


@pytest.mark.parametrize("unit", ["idp.service", "idp-backup.service", "idp-audit-export.service"])
def test_a_unit_starts_a_command_with_options_that_it_has(unit):
    lines = text(f"systemd/{unit}").replace("\\\n", " ")
    name, given = re.search(r"^ExecStart=.*?/idp ([\w ]+?) (-.*)$", lines, re.M).groups()
    # With --into, a backup is one of a series.
    command = main
    for word in {"backup": "backup add"}.get(name, name).split():
        command = command.get_command(None, word)
    used = {part for part in given.split() if part.startswith("--")}
    known = {option for each in command.params for option in each.opts}

    assert used
    assert used <= known


def test_the_chart_backs_up_with_options_that_there_are():
    given = set(re.findall(r"^ +- (--\S+)$", text("helm/idp/templates/backup.yaml"), re.M))
    known = main.get_command(None, "backup").commands["add"].params

    assert {"--into", "--keep", "--passphrase-file"} == given
    assert given <= {option for each in known for option in each.opts}


def test_the_rules_that_units_and_chart_give_for_backups_can_be_read(schema):
    (of_unit,) = re.findall(r"--keep (\S+)", text("systemd/idp-backup.service"))
    pattern = schema["properties"]["backup"]["properties"]["keep"]["pattern"]

    for rule in (of_unit, document("helm/idp/values.yaml")["backup"]["keep"]):
        assert retention.parse(rule)
        assert re.search(pattern, rule)


def test_every_container_has_a_read_only_root_no_capability_and_a_user_of_its_own():
    services = document("compose/compose.yaml")["services"]

    for name, each in services.items():
        assert each["read_only"] is True, name
        assert each["cap_drop"] == ["ALL"], name
        assert each["security_opt"] == ["no-new-privileges:true"], name
        assert not {"cap_add", "privileged"} & each.keys(), name
        # The user is in the image of the service.
        assert each["image"].startswith("${IDP_IMAGE:-"), name


def test_git_leaves_out_the_values_of_the_compose_file():
    file = "deploy/compose/.env"
    command = ["git", "-C", str(ROOT), "-c", "safe.directory=*", "check-ignore", file]

    assert subprocess.run(command, capture_output=True, text=True).stdout.split() == [file]


def test_every_value_of_the_compose_file_is_documented():
    used = set(re.findall(r"\$\{(\w+)", text("compose/compose.yaml")))
    pages = read("docs/how-to/running.md") + read("docs/reference/settings.md")
    documented = set(re.findall(r"`(IDP_\w+)`", pages))

    assert used <= documented


# Values of the chart


def test_the_schema_is_one(schema):
    jsonschema.Draft7Validator.check_schema(schema)


@pytest.mark.parametrize("name", [path.stem for path in VALUES])
def test_each_set_of_values_is_accepted(schema, name):
    jsonschema.validate(values(name), schema)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("sqlite", {"replicas": 2}),
        ("sqlite", {"store": {"sqlite": {"claim": ""}}}),
        ("sqlite", {"store": {"kind": "memory"}}),
        ("sqlite", {"issuer": ""}),
        ("sqlite", {"issuer": "https://login.example.com/"}),
        ("sqlite", {"masterKey": {"secret": {"name": ""}}}),
        ("mongodb", {"store": {"mongodb": {"secret": {"name": ""}}}}),
        ("mongodb", {"replicas": 0}),
        ("mongodb", {"image": {"digest": "sha256:1"}}),
        ("mongodb", {"settings": {"master_key": "secret"}}),
        ("mongodb", {"settings": {"IDP_PROCESSES": 2}}),
        ("mongodb", {"settings": {"trusted_proxies": ["10.0.0.0/8,10.1.0.0/16"]}}),
        ("mongodb", {"replica": 3}),
        ("mongodb", {"drainSeconds": -1}),
        ("mongodb", {"backup": {"enabled": True, "secret": {"name": "idp-backup"}}}),
        ("mongodb", {"backup": {"enabled": True, "claim": "backups"}}),
        ("sqlite", {"backup": {"keep": "7 days"}}),
        ("sqlite", {"backup": {"schedule": "nightly"}}),
    ],
)
def test_values_that_can_not_work_are_refused(schema, name, changes):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(values(name, **changes), schema)
