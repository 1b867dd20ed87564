"""The version that the program says it has."""

from __future__ import annotations

import subprocess

import pytest

from idp.cli import program_version

pytestmark = pytest.mark.full  # they start git

AUTHOR = ("-c", "user.name=Tests", "-c", "user.email=tests@example.com")


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.setattr(program_version, "_ROOT", tmp_path)
    return tmp_path


def git(tree, *arguments):
    command = ["git", "-C", str(tree), *AUTHOR, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize(("version", "is_with_commit"), [("0.3.0.dev0", True), ("0.3.0", False)])
def test_a_development_version_in_its_repository_has_the_commit(
    tree, monkeypatch, version, is_with_commit
):
    monkeypatch.setattr(program_version, "__version__", version)
    git(tree, "init", "--quiet")
    git(tree, "commit", "--quiet", "--allow-empty", "--message", "first")
    commit = git(tree, "rev-parse", "HEAD")[:8]

    expected = f"{version}+g{commit}" if is_with_commit else version
    assert program_version.described() == expected


def test_without_a_repository_or_git_the_version_is_as_it_was_built(tree, monkeypatch):
    monkeypatch.setattr(program_version, "__version__", "0.3.0.dev0")
    outside = program_version.described()
    (tree / ".git").mkdir()
    not_a_repository = program_version.described()
    monkeypatch.setenv("PATH", str(tree))

    assert [outside, not_a_repository, program_version.described()] == ["0.3.0.dev0"] * 3
