"""A release: what it holds, who signed it, and that what it holds can be installed."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile

import httpx
import pytest

from tests.deploy.conftest import VERSION, clone, git, release_commit, run
from tests.support.programs.program import environment
from tests.support.repository import ROOT

# Alone: what they share is built once, by both cores.
pytestmark = pytest.mark.load

FILES = {
    f"idp-{VERSION}-py3-none-any.whl",
    f"idp-{VERSION}.tar.gz",
    f"idp-{VERSION}-image-amd64.tar",
    f"idp-{VERSION}-image-arm64.tar",
    f"idp-{VERSION}-images.txt",
    f"idp-{VERSION}-chart.tgz",
    f"idp-{VERSION}-docs.tgz",
    f"idp-{VERSION}-units.tgz",
    f"idp-{VERSION}.cdx.json",
    f"idp-{VERSION}-image-amd64.cdx.json",
    f"idp-{VERSION}-image-arm64.cdx.json",
    "alerts.yaml",
    "deploy.txt",
    "metrics.md",
    "settings.md",
}


def test_every_file_is_there_and_listed_with_its_hash(release):
    there = {path.name for path in release.directory.iterdir()}
    listed = (release.directory / "SHA256SUMS").read_text().split()[1::2]

    assert there == FILES | {"SHA256SUMS", "SHA256SUMS.sig"}
    assert set(listed) == FILES
    run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=release.directory)


def test_the_list_is_signed(release, tmp_path):
    signers = tmp_path / "signers"
    signers.write_text(f"releases@example.com {release.key.with_suffix('.pub').read_text()}")
    sums = release.directory / "SHA256SUMS"
    command = ["ssh-keygen", "-Y", "verify", "-f", str(signers), "-I", "releases@example.com"]
    command += ["-n", "idp-release", "-s", f"{sums}.sig"]

    right = subprocess.run(command, input=sums.read_bytes(), capture_output=True)
    wrong = subprocess.run(command, input=sums.read_bytes() + b" ", capture_output=True)

    assert right.returncode == 0, right.stderr
    assert wrong.returncode != 0


def test_the_bill_of_materials_of_the_wheel_names_what_is_pinned(release):
    document = json.loads((release.directory / f"idp-{VERSION}.cdx.json").read_text())
    pinned = (release.directory / "deploy.txt").read_text()

    assert document["bomFormat"] == "CycloneDX"
    assert document["metadata"]["component"]["version"] == VERSION
    assert len(document["components"]) == pinned.count("==")
    assert all(f"{each['name']}=={each['version']}" in pinned for each in document["components"])
    assert "://" not in json.dumps(document["components"])


def test_the_settings_are_those_of_the_documentation(release):
    text = (release.directory / "settings.md").read_text()

    assert "| `issuer` |" in text
    assert "<!--" not in text
    assert "| `idp_http_requests_total` |" in (release.directory / "metrics.md").read_text()


def test_the_site_of_the_documentation_is_one_folder_that_opens_by_its_index(release):
    folder = f"idp-{VERSION}-docs"
    with tarfile.open(release.directory / f"{folder}.tgz") as file:
        names = set(file.getnames())
        index = file.extractfile(f"{folder}/index.html").read().decode()

    assert {name.partition("/")[0] for name in names} == {folder}
    assert {f"{folder}/search.html", f"{folder}/searchindex.js"} <= names
    assert VERSION in index


@pytest.mark.parametrize(
    ("version", "said"),
    [("9.8.6", "CHANGELOG.md has no section"), (None, "not committed")],
)
def test_a_release_that_is_not_ready_is_refused(tmp_path, signing_key, version, said):
    source = clone(ROOT, tmp_path / "source")
    if version:
        release_commit(source)
        module = source / "idp" / "__init__.py"
        module.write_text(f'__version__ = "{version}"\n')
        author = ("-c", "user.name=Tests", "-c", "user.email=tests@example.com")
        git(source, *author, "commit", "--quiet", "--all", "--message", "another version")
    else:
        (source / "new").write_text("")
    command = [str(source / "deploy" / "release"), str(signing_key), str(tmp_path / "files")]

    ran = subprocess.run(command, capture_output=True, text=True)

    assert ran.returncode == 1
    assert said in ran.stderr
    assert not list((tmp_path / "files").iterdir())


@pytest.mark.parametrize("extra", ["", "[fast,otel]"])
def test_pipx_installs_a_service_that_serves_its_first_page(release, tmp_path, extra):
    wheel = release.directory / f"idp-{VERSION}-py3-none-any.whl"
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    run(tmp_path / "venv" / "bin" / "pip", "install", "--quiet", "pipx")
    places = {"PIPX_HOME": tmp_path / "home", "PIPX_BIN_DIR": tmp_path / "bin"}
    wanted = f"idp{extra} @ {wheel.as_uri()}" if extra else str(wheel)
    run(tmp_path / "venv" / "bin" / "pipx", "install", wanted, env=environment(**places))
    with subprocess.Popen(
        [str(tmp_path / "bin" / "idp"), "serve", "--json", "--port", "0"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    ) as service:
        try:
            told = json.loads(service.stdout.readline())
            first = httpx.get(told["demo"]["url"])
        finally:
            service.terminate()

    assert first.status_code == 200
    assert service.returncode == 0
