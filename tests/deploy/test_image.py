"""The image: made the same everywhere, of known packages, and it serves on a read-only root."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import struct
import subprocess
import time
from pathlib import Path

import pytest

from tests.deploy.conftest import VERSION, git, run
from tests.deploy.container import Container, free_port
from tests.support import patience
from tests.support.browsers.visitor import Visitor
from tests.support.programs import debian, go_tools

# Alone: what they share is built once, by both cores.
pytestmark = pytest.mark.load

MACHINES = {62: "amd64", 183: "arm64"}  # e_machine of an ELF file (elf(5))
SHELLS = {"sh", "ash", "bash", "busybox", "csh", "dash", "fish", "ksh", "mksh", "tcsh", "zsh"}
LIBRARIES = "usr/local/lib/python3.11/dist-packages"
# What deploy/image makes itself, beside the database of Debian's packages: of which package.
OURS = {
    "/etc/group": "base-passwd",
    "/etc/passwd": "base-passwd",
    "/etc/ssl/certs/ca-certificates.crt": "ca-certificates",
    "/usr/lib/ssl/cert.pem": "ca-certificates",
    "/usr/local/bin/idp": "idp",
}
DATABASE = "/var/lib/dpkg/"
TOOLS = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


@pytest.fixture(scope="module")
def roots(image, tmp_path_factory):
    """The root directory of each image, as umoci unpacks it; gone afterwards, as it is large."""
    directory = tmp_path_factory.mktemp("roots")
    unpacked: dict[str, Path] = {}

    def find(arch: str) -> Path:
        if arch not in unpacked:
            unpacked[arch] = image(arch).unpack(directory / arch)
        return unpacked[arch]

    yield find
    shutil.rmtree(directory)


@pytest.fixture
def root(roots) -> Path:
    return roots("amd64")


@pytest.fixture
def container(image, root, tmp_path):
    debian.need(unshare="util-linux", mount="mount")
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    os.chown(data, 10001, 10001)
    settings = {"IDP_PORT": free_port(), "IDP_ALLOW_TRIAL_NETWORK": "true"}
    settings["IDP_SHUTDOWN_DELAY_SECONDS"] = "0"  # no load balancer has to notice its end
    settings["IDP_METRICS_LISTEN"] = "127.0.0.1:0"  # the machine's ports are everybody's
    made = Container(root, image("amd64").config["config"], data, **settings)
    yield made.start()
    made.kill()


def files(root: Path):
    """Every file of a root and its path there."""
    for directory, _, names in os.walk(root):
        for name in names:
            path = Path(directory, name)
            yield path, f"/{path.relative_to(root)}"


def machine(path: Path) -> str | None:
    """What an ELF file is for; None for any other file."""
    with path.open("rb") as file:
        head = file.read(20)
    if head[:4] != b"\x7fELF":
        return None
    number = struct.unpack("<H", head[18:20])[0]
    return MACHINES.get(number, str(number))


def packages_of_files(root: Path) -> dict[str, str]:
    """The package of each file: Debian's by dpkg's database, Python's by their own lists."""
    found = dict(OURS)
    for path in (root / "var/lib/dpkg/info").glob("*.list"):
        found |= dict.fromkeys(path.read_text(encoding="utf-8").splitlines(), path.stem)
    for record in (root / LIBRARIES).glob("*.dist-info/RECORD"):
        name = re.search(r"^Name: (.*)$", (record.parent / "METADATA").read_text(), re.M)[1]
        for line in record.read_text(encoding="utf-8").splitlines():
            file = os.path.normpath(f"/{LIBRARIES}/{line.rsplit(',', 2)[0]}")
            found[file] = re.sub(r"[-_.]+", "-", name).lower()
    return found


# What is in it


def test_two_builds_in_two_directories_are_the_same(image):
    first, second = image("amd64"), image("amd64", "elsewhere")

    assert first.digest == second.digest
    assert first.archive.read_bytes() == second.archive.read_bytes()


@pytest.mark.parametrize("arch", ["amd64", "arm64"])
def test_every_program_and_library_is_for_the_architecture_of_the_image(image, roots, arch):
    made, root = image(arch), roots(arch)
    found = {machine(path) for path, _ in files(root) if path.is_file() and not path.is_symlink()}

    assert made.config["architecture"] == arch
    assert found - {None} == {arch}


def test_no_shell_and_nothing_that_gives_another_user_is_there(root):
    there = [(path.name, path.lstat().st_mode) for path, _ in files(root)]

    assert not SHELLS & {name for name, _ in there}
    assert not [name for name, mode in there if mode & (stat.S_ISUID | stat.S_ISGID)]


@pytest.mark.parametrize("arch", ["amd64", "arm64"])
def test_the_bill_of_materials_names_the_package_of_every_file(release, roots, arch):
    root = roots(arch)
    document = json.loads((release.directory / f"idp-{VERSION}-image-{arch}.cdx.json").read_text())
    named = {each["name"] for each in document["components"]}
    packages = packages_of_files(root)
    compiled = re.compile(r"__pycache__/([^/]+)\.cpython-311\.pyc$")
    there = {compiled.sub(r"\1.py", name) for _, name in files(root)}
    there = {name for name in there if not name.startswith(DATABASE)}

    assert document["specVersion"] == "1.6"
    assert not there - packages.keys()
    assert {packages[name] for name in there} <= named
    assert named <= set(packages.values())


def test_every_module_is_compiled(root):
    """A read-only root can't keep what Python would compile at each start."""
    sources = [path for path, name in files(root) if path.suffix == ".py" and "/lib/" in name]
    missing = [
        path
        for path in sources
        if not (path.parent / "__pycache__" / f"{path.stem}.cpython-311.pyc").exists()
    ]

    assert len(sources) > 1000
    assert not missing


def test_the_configuration_says_how_to_run_it(release, image):
    made = image("amd64").config

    assert made["config"] == {
        "User": "10001:10001",
        "ExposedPorts": {"8080/tcp": {}, "9464/tcp": {}},
        "Env": [
            "PATH=/usr/local/bin:/usr/bin",
            "PYTHONSAFEPATH=1",
            "IDP_HOST=0.0.0.0",
            "IDP_DATA=/data",
            "IDP_LOG_FORMAT=json",
            "IDP_SHUTDOWN_DELAY_SECONDS=5",
            "IDP_METRICS_LISTEN=0.0.0.0:9464",
        ],
        "Entrypoint": ["/usr/bin/python3", "-m", "idp"],
        "Cmd": ["serve"],
        "Volumes": {"/data": {}},
        "WorkingDir": "/",
        "Labels": {
            "org.opencontainers.image.licenses": "Apache-2.0",
            "org.opencontainers.image.revision": git(release.source, "rev-parse", "HEAD").strip(),
            "org.opencontainers.image.title": "idp",
            "org.opencontainers.image.version": VERSION,
        },
        "StopSignal": "SIGTERM",
    }


def test_a_registry_takes_it_and_it_is_well_formed(image):
    crane = go_tools.program("crane")
    address = f"127.0.0.1:{free_port()}"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    registry = subprocess.Popen([crane, "registry", "serve", "--address", address], **quiet)
    try:
        push = [crane, "push", str(image("amd64").layout), f"{address}/idp:test"]
        for _ in range(60):  # it needs a moment until it listens
            pushed = subprocess.run(push, capture_output=True, text=True)
            if pushed.returncode == 0:
                break
            time.sleep(0.5)
        checked = run(crane, "validate", "--remote", f"{address}/idp:test")
    finally:
        registry.kill()
        registry.wait()

    assert pushed.stdout.strip() == f"{address}/idp@{image('amd64').digest}", pushed.stderr
    assert checked.startswith("PASS")


# How it runs


async def test_it_serves_and_signs_in_on_a_read_only_root_without_being_root(container):
    status = Path(f"/proc/{container.pid}/status").read_text()
    browser = Visitor(container.issuer, timeout=patience.SECONDS)
    try:
        first = await browser.get("/demo")
        tokens = await container.demo().tokens(browser, *container.user)
    finally:
        await browser.close()

    assert "Uid:\t10001\t10001\t10001\t10001" in status
    assert re.search(r"^NSpid:\t\d+\t1$", status, re.M)  # process 1 of its container
    assert first.status == 200
    assert tokens["id_token"]


def test_it_ends_with_0_within_two_seconds_when_idle(container):
    begun = time.monotonic()
    container.signal()
    code = container.wait()

    assert code == 0
    assert time.monotonic() - begun <= 2


def test_commands_of_the_service_run_in_it(root):
    enter = ("chroot", "--userspec=10001:10001", root)

    assert run(*enter, "/usr/local/bin/idp", "--version", env=TOOLS) == f"idp, version {VERSION}\n"


def test_it_trusts_the_authorities_that_debian_trusts(root):
    code = "import ssl; print(len(ssl.create_default_context().get_ca_certs()))"

    assert int(run("chroot", root, "/usr/bin/python3", "-c", code, env=TOOLS)) > 100
