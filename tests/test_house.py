"""What is installed, and what the pages say of commands, settings, paths and versions."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import tomllib
from fnmatch import fnmatch

import click
import msgspec
import pytest

from idp import __version__, cli
from idp.config import settings as config_settings
from idp.foundation import metrics
from idp.records import SCHEMA
from idp.start import announcement
from tests.support import metrics_table, settings_table
from tests.support.repository import ROOT, listed, options, read, setup_cfg

START = "python3 -m venv .venv && .venv/bin/pip install -e . && .venv/bin/idp serve"
TEST = "python3 -m venv .venv && .venv/bin/pip install tox && .venv/bin/tox"
MANUAL = [
    "docs/how-to/running.md",
    "docs/how-to/observing.md",
    "docs/how-to/protecting.md",
    "docs/how-to/recovering.md",
    "docs/reference/settings.md",
]
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", *MANUAL]
PAGES += ["docs/architecture.md", "docs/reference/management.md", "docs/reference/command-line.md"]
PAGES += ["docs/reference/metrics.md", "docs/how-to/backup.md", "docs/how-to/scaling.md"]
PAGES += ["docs/explanation/security.md", "docs/project/releasing.md", "SECURITY.md"]
PAGES += ["examples/first-hour/README.md"]
_PATH = re.compile(
    r"`((?:deploy|idp|handlers|storage|templates|locales|tests|docs|requirements)/[\w./-]*)`"
)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_a_newcomers_two_commands_stand_on_lines_of_their_own(page):
    lines = read(page).splitlines()

    assert START in lines
    assert TEST in lines


def test_continuous_integration_runs_the_readmes_test_command():
    script = ROOT / ".ci" / "run"

    assert TEST in script.read_text().splitlines()
    assert "set -euo pipefail" in script.read_text().splitlines()
    assert os.access(script, os.X_OK)


def test_every_file_that_is_no_module_is_installed():
    for package in ("templates", "locales"):
        patterns = setup_cfg()["options.package_data"][package].replace(",", " ").split()
        for path in (ROOT / package).rglob("*"):
            name = str(path.relative_to(ROOT / package))
            is_code = path.suffix in (".py", ".pyc", ".cfg") or path.is_dir()
            assert is_code or any(fnmatch(name, each) for each in patterns), name


def test_what_is_deployed_is_pinned_with_hashes():
    pinned = dict(re.findall(r"^([a-z0-9-]+)==\S+ (\\)$", read("requirements/deploy.txt"), re.M))
    needed = setup_cfg()["options"]["install_requires"].split()
    extras = setup_cfg()["options.extras_require"]
    needed += [
        each for name in ("fast", "object-storage", "otel") for each in extras[name].split()
    ]

    assert {re.split(r"[\[<>=]", each)[0].lower() for each in needed} <= set(pinned)


def test_what_is_deployed_says_nothing_of_where_packages_come_from():
    text = read("requirements/deploy.txt")

    assert options(text) == {"--hash"}
    assert "://" not in text


@pytest.mark.parametrize("package", ["handlers", "idp", "storage"])
def test_an_installed_package_says_that_it_has_types(package):
    marker = ROOT / package / "py.typed"

    assert marker.read_bytes() == b""
    assert "py.typed" in listed("options.package_data", package)


def test_the_changelog_knows_this_version():
    is_released = f"\n## [{__version__}] - " in read("CHANGELOG.md")

    assert is_released != __version__.endswith(".dev0")


def test_each_entry_of_the_changelog_has_a_kind_that_the_release_knows():
    known = tomllib.loads(read("pyproject.toml"))["tool"]["towncrier"]["type"]
    kinds = "|".join(each["directory"] for each in known)
    names = {path.name for path in (ROOT / "changelog.d").iterdir()} - {"README.md"}

    assert [
        name for name in names if not re.fullmatch(rf"\+[a-z0-9-]+\.({kinds})\.md", name)
    ] == []


def test_the_sections_of_the_changelog_have_the_form_that_the_release_recipe_gives_them():
    form = re.search(r"`(## \[\d[^`]*)`", read("docs/project/releasing.md"))[1]
    pattern = r"## \[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}"
    released = re.findall(r"^## .*$", read("CHANGELOG.md"), re.M)

    assert re.fullmatch(pattern, form)
    assert released[-1] == "## [0.1.0]"  # the first one, which was not dated
    assert not [heading for heading in released[:-1] if not re.fullmatch(pattern, heading)]


def test_each_section_of_the_changelog_ends_with_how_to_go_up_and_down():
    _, *sections = re.split(r"^## \[.*$", read("CHANGELOG.md"), flags=re.M)
    lasts = [re.split(r"^### ", section, flags=re.M)[-1] for section in sections]
    next_one = (ROOT / "changelog.d").glob("+schema.up-and-down.md")
    lasts[:0] = ["Up and down\n" + path.read_text("utf-8") for path in next_one]
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


def test_the_pages_have_every_setting_and_every_metric():
    assert set(settings_table.names()) == set(config_settings.TYPES)
    assert metrics_table.documented(read("docs/reference/metrics.md")) == set(metrics.DECLARED)


@pytest.mark.parametrize("page", PAGES)
def test_every_path_that_a_page_names_is_there(page):
    paths = [
        path for path in _PATH.findall(read(page)) if "NAME" not in path and "TAG" not in path
    ]

    assert not [path for path in paths if not (ROOT / path).exists()]


def commands(page):
    """Each `idp …` of a page, in a line of its own or inside a sentence."""
    text = read(page).replace("\\\n", " ")
    for line in re.findall(r"`([^`\n]+)`|^(?: {4})?([^`\n]*)$", text, re.MULTILINE):
        is_command = re.search(r"(^| )idp [a-z]", "".join(line))
        words = shlex.split("".join(line), comments=True) if is_command else []
        if "idp" in words[:2]:
            yield words[words.index("idp") + 1 :]


@pytest.mark.parametrize("page", PAGES)
def test_every_command_that_a_page_names_is_one(page):
    for words in commands(page):
        command, rest = cli.main, words
        while rest and isinstance(command, click.Group):
            command, rest = command.get_command(click.Context(command), rest[0]), rest[1:]
        flags = {
            flag
            for parameter in command.params
            for flag in (*parameter.opts, *parameter.secondary_opts)
        }
        assert {word for word in rest if word.startswith("--")} <= flags | {"--help"}, words


def test_the_readme_shows_what_the_start_prints(server):
    first = msgspec.structs.replace(server.start, is_first=True)
    release = __version__.removesuffix(".dev0")
    printed = announcement.banner(first, 0.4, release).splitlines()
    shown = read("README.md").splitlines()
    first = shown.index(printed[0])
    labels = [line.split()[0] for line in printed]

    assert [line.split()[0] for line in shown[first : first + len(printed)]] == labels
