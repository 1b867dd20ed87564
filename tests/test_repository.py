"""The files around the code: releases, reports, hosted checks, and what an installation pins."""

from __future__ import annotations

import itertools
import re

import pytest
import yaml

from idp import __version__
from idp.records import SCHEMA
from tests.support import structure
from tests.test_house import ROOT, listed, read, tracked

PAGES = ["SECURITY.md", "docs/project/releasing.md"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
TYPED = ["handlers", "idp", "storage"]

_NAMED = re.compile(r"`([\w./-]+(?:\.(?:cfg|md|po|py|toml|txt|yml)|/))`")
_OPTION = re.compile(r"(?:^|\s)(-[^\s=]*)")


def loaded(path):
    """The file with every scalar as the text that it is: YAML 1.1 takes `on` for a truth value."""
    return yaml.load(path.read_text(encoding="utf-8"), yaml.BaseLoader)


def options(requirements):
    """Every option of a requirements file, also behind a requirement."""
    lines = [line for line in requirements.splitlines() if not line.lstrip().startswith("#")]
    return {option for line in lines for option in _OPTION.findall(line)}


# Installations


def test_what_is_deployed_says_nothing_of_where_packages_come_from():
    text = read("requirements/deploy.txt")

    assert options(text) == {"--hash"}
    assert "://" not in text


@pytest.mark.parametrize(
    "line",
    ["--find-links wheels", "-f wheels", "idp==1 --trusted-host=x", "  --pre", "-e ."],
)
def test_an_option_is_found_wherever_it_is(line):
    assert options(f"# --pre\na==1 \\\n    --hash=sha256:00\n{line}\n") > {"--hash"}


@pytest.mark.parametrize("package", TYPED)
def test_an_installed_package_says_that_it_has_types(package):
    marker = ROOT / package / "py.typed"

    assert marker.read_bytes() == b""
    assert "py.typed" in listed("options.package_data", package)


# Every file


def test_every_text_file_is_utf_8_with_unix_line_ends_and_a_last_one():
    contents = {path: path.read_bytes() for path in tracked() if path.is_file()}
    texts = {path: content for path, content in contents.items() if b"\0" not in content}

    for path, content in texts.items():
        content.decode("utf-8")
        assert b"\r" not in content, path
        assert content.endswith(b"\n") or not content, path


# Hosted checks


def test_the_workflows_and_forms_are_there():
    assert [path.name for path in WORKFLOWS] == ["ci.yml", "release.yml"]
    assert [path.name for path in FORMS] == ["bug.yml", "feature.yml"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_an_action_is_pinned_by_the_hash_of_its_commit(path):
    used = re.findall(r"^\s*(?:-\s+)?uses:\s*(.*)$", path.read_text(encoding="utf-8"), re.M)

    assert used
    assert not [use for use in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", use)]


def test_a_workflow_may_read_the_repository_and_only_a_release_may_do_more():
    ci, release = (loaded(path) for path in WORKFLOWS)

    assert ci["permissions"] == release["permissions"] == {"contents": "read"}
    assert not [job for job in ci["jobs"].values() if "permissions" in job]
    assert "pull_request_target" not in ci["on"]
    assert "secrets." not in WORKFLOWS[0].read_text(encoding="utf-8")
    assert release["on"] == {"push": {"tags": ["v*"]}}
    assert {job["environment"] for job in release["jobs"].values()} == {"release"}


def test_each_change_has_to_pass_the_gate_and_what_is_merged_the_other_suites():
    workflow = loaded(ROOT / ".github" / "workflows" / "ci.yml")
    gate, full = workflow["jobs"]["gate"], workflow["jobs"]["full"]
    steps = {step["run"]: step.get("if", "") for step in full["steps"] if "run" in step}
    (nightly,) = workflow["on"]["schedule"]

    assert "if" not in gate
    assert gate["container"] == full["container"]["image"] == "debian:12"
    assert "bash .ci/run" in [step.get("run") for step in gate["steps"]]
    assert (full["needs"], full["if"]) == ("gate", "github.event_name != 'pull_request'")
    assert steps["bash .ci/run full"] == steps[".venv/bin/tox -e docs"] == ""
    assert "'schedule'" in steps["bash .ci/run load"]
    assert re.fullmatch(r"\d+ \d+ \* \* \*", nightly["cron"])


def test_a_commit_is_checked_by_tools_that_are_installed():
    repositories = loaded(ROOT / ".pre-commit-config.yaml")["repos"]
    hooks = [hook for each in repositories for hook in each["hooks"]]
    commands = [hook["entry"].replace(" --force-exclude", "") for hook in hooks]

    assert {each["repo"] for each in repositories} == {"local"}
    assert {hook["language"] for hook in hooks} == {"system"}
    assert commands == ["ruff check", "ruff format --check", "lint-imports"]


# Reports and changes


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_a_form_asks_for_the_version_and_the_store(path):
    form = loaded(path)
    fields = {field["id"]: field for field in form["body"] if field["type"] != "markdown"}

    assert form["name"]
    assert form["description"]
    assert {"version", "store"} <= set(fields)
    assert all(field["attributes"]["label"] for field in fields.values())


def test_the_form_for_bugs_asks_for_the_explanation_of_a_refusal():
    form = loaded(ROOT / ".github" / "ISSUE_TEMPLATE" / "bug.yml")

    assert "explain" in [field.get("id") for field in form["body"]]


def test_a_change_is_asked_for_its_tests_and_its_line_in_the_changelog():
    text = read(".github/pull_request_template.md")

    assert "`tox`" in text
    assert "`CHANGELOG.md`" in text


# Releases


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_a_page_about_releases_names_is_there(page):
    names = _NAMED.findall(read(page))
    links = re.findall(r"\]\(([^)#\s:]+)(?:#[^)]*)?\)", read(page))

    assert not [name for name in names if not (ROOT / name).exists()]
    assert not [link for link in links if not (ROOT / page).parent.joinpath(link).exists()]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_about_releases_is_linked_where_a_reader_looks(page):
    assert f"]({page})" in read("README.md")
    assert f"]({page})" in read("CONTRIBUTING.md")


def test_every_module_that_the_release_recipe_runs_is_there():
    modules = re.findall(r"-m (tests\.[\w.]+)", read("docs/project/releasing.md"))

    assert modules
    assert not [name for name in modules if not (ROOT / (name.replace(".", "/") + ".py")).exists()]


def test_the_sections_of_the_changelog_have_the_form_that_the_release_recipe_gives_them():
    form = re.search(r"`(## \[\d[^`]*)`", read("docs/project/releasing.md"))[1]
    pattern = r"## \[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}"
    first, *released = re.findall(r"^## .*$", read("CHANGELOG.md"), re.M)

    assert re.fullmatch(pattern, form)
    assert first == "## [Unreleased]"
    assert released[-1] == "## [0.1.0]"  # the first one, which was not dated
    assert not [heading for heading in released[:-1] if not re.fullmatch(pattern, heading)]


def test_each_section_of_the_changelog_ends_with_how_to_go_up_and_down():
    _, *sections = re.split(r"^## \[.*$", read("CHANGELOG.md"), flags=re.M)
    lasts = [re.split(r"^### ", section, flags=re.M)[-1] for section in sections]
    versions = [
        re.search(r"Schema version (\d+), readable by programs of schema version (\d+)", last)
        for last in lasts
    ]

    assert all(last.startswith("Up and down\n") for last in lasts)
    assert all(versions)
    now = str(SCHEMA.version), str(SCHEMA.oldest_reader)
    assert versions[0].groups() == now
    # One that is raised could be read by the release before.
    for newer, older in itertools.pairwise(versions):
        assert int(newer[2]) <= int(older[1])


def test_upgrades_are_tested_with_installations_of_every_earlier_release():
    """Those of this version are made once it is out."""
    released = set(re.findall(r"^## \[(\d+\.\d+\.\d+)\]", read("CHANGELOG.md"), re.M))
    kept = {path.name for path in (ROOT / "tests" / "upgrades" / "stores").iterdir()}

    assert {version.rpartition(".")[0] for version in released - {__version__}} <= kept


def test_every_module_of_the_tests_that_is_imported_is_there():
    assert not structure.missing_test_modules()
