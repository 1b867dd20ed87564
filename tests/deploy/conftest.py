"""What tests of `deploy/` share: a release, and what it holds.

release   a release of this commit with a version of its own, made once
image     an image of it; from another `place`, built anew in another directory
"""

from __future__ import annotations

import json
import re
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from idp import __version__
from tests.support.programs import debian
from tests.support.repository import ROOT

VERSION = "9.8.7"
BUILD_SECONDS = 1800
GIT = ("git", "-c", "safe.directory=*", "-c", "commit.gpgsign=false")
AUTHOR = ("-c", "user.name=Tests", "-c", "user.email=tests@example.com")


class Release(NamedTuple):
    """A release: the clone that it was made of, its files, and the key that signed it."""

    source: Path
    directory: Path
    key: Path


class Image(NamedTuple):
    """An image: its archive, the archive's contents, and its digest."""

    archive: Path
    layout: Path
    digest: str

    def blob(self, digest: str) -> Any:
        """The JSON document of that digest."""
        path = self.layout / "blobs" / digest.replace(":", "/")
        return json.loads(path.read_text(encoding="utf-8"))

    @property
    def config(self) -> Any:
        """The image's configuration (OCI image specification)."""
        return self.blob(self.blob(self.digest)["config"]["digest"])

    def unpack(self, directory: Path) -> Path:
        """Its root directory, unpacked by umoci."""
        run("umoci", "unpack", "--image", f"{self.layout}:{VERSION}", directory)
        return directory / "rootfs"


def run(*command: object, **options: Any) -> str:
    """What the command prints; a failure fails the test with what it said."""
    ran = subprocess.run(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        **options,
    )
    if ran.returncode:
        pytest.fail(f"{command[0]}: {ran.stdout[-1000:]}{ran.stderr[-3000:]}")
    return ran.stdout


def git(directory: Path, *arguments: object) -> str:
    return run(*GIT, "-C", directory, *arguments)


def clone(source: Path, directory: Path) -> Path:
    run(*GIT, "clone", "--quiet", "--shared", source, directory)
    return directory


def release_commit(source: Path, version: str = VERSION) -> None:
    """Commit what docs/project/releasing.md does before a release."""
    for name in ("idp/__init__.py", "deploy/helm/idp/Chart.yaml", "deploy/compose/compose.yaml"):
        path = source / name
        text = path.read_text().replace(__version__, version)
        path.write_text(text.replace(__version__.replace(".dev", "-dev"), version))
    changes = source / "CHANGELOG.md"
    sections = re.split(r"^(?=## \[)", changes.read_text(), maxsplit=1, flags=re.M)
    changes.write_text(f"\n## [{version}] - 2027-01-31\n\n".join(sections))
    for entry in (source / "changelog.d").glob("+*"):
        entry.unlink()
    git(source, *AUTHOR, "commit", "--quiet", "--all", "--message", f"release: {version}")


def unpacked(archive: Path, digest: str, directory: Path) -> Image:
    with tarfile.open(archive) as file:
        file.extractall(directory, filter="data")
    return Image(archive, directory, digest)


@pytest.fixture(scope="session")
def signing_key(tmp_path_factory) -> Path:
    debian.need(**{"ssh-keygen": "openssh-client"})
    key = tmp_path_factory.mktemp("key") / "key"
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
    return key


@pytest.fixture(scope="session")
def release(tmp_path_factory, signing_key) -> Release:
    debian.need_root("builds an image")
    debian.need("git", "mmdebstrap", "umoci")
    directory = tmp_path_factory.mktemp("release")
    source = clone(ROOT, directory / "source")
    release_commit(source)
    script = source / "deploy" / "release"
    run(script, signing_key, directory / "files", timeout=BUILD_SECONDS)
    return Release(source, directory / "files", signing_key)


@pytest.fixture(scope="session")
def image(release, tmp_path_factory) -> Callable[..., Image]:
    made: dict[tuple[str, str], Image] = {}

    def released(arch: str) -> tuple[Path, str]:
        listed = release.directory / f"idp-{VERSION}-images.txt"
        digests = dict(line.split() for line in listed.read_text().splitlines())
        name = f"idp-{VERSION}-image-{arch}.tar"
        return release.directory / name, digests[name]

    def built(arch: str, place: str) -> tuple[Path, str]:
        source = clone(release.source, tmp_path_factory.mktemp(place) / "source")
        script = source / "deploy" / "image" / "build"
        name, digest = run(script, arch, source.parent, timeout=BUILD_SECONDS).split()
        return source.parent / name, digest

    def find(arch: str, place: str = "release") -> Image:
        if (arch, place) not in made:
            archive, digest = released(arch) if place == "release" else built(arch, place)
            directory = tmp_path_factory.mktemp(f"{arch}-{place}")
            made[arch, place] = unpacked(archive, digest, directory)
        return made[arch, place]

    return find
