"""The house around the code: what its pages promise is so, and no module is left out of a rule."""

from __future__ import annotations

import configparser
import os
import re
import shlex
import subprocess
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import click
import pytest

from idp import __version__, cli
from idp.config import settings as config_settings
from idp.config.profiles import PUBLIC, TRIAL
from idp.start import bootstrap
from tests.support import checks_table, figures, settings_table

ROOT = Path(__file__).parent.parent
START = "python3 -m venv .venv && .venv/bin/pip install -e . && .venv/bin/idp serve"
TEST = "python3 -m venv .venv && .venv/bin/pip install tox && .venv/bin/tox"
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/operating.md"]
PAGES += ["docs/architecture.md", "docs/management.md", "docs/command-line.md"]
PAGES += ["docs/backup.md", "docs/scaling.md", "docs/security.md"]
PAGES += ["examples/first-hour/README.md", "SECURITY.md", "docs/releasing.md"]

FRONT_DOOR = {"idp.__main__", "idp.cli", "idp.server.listener", "idp.server.supervisor"}

# Where packages come from is the user's own business, and so is where the tree lies.
PRIVATE = (
    r"--(?:extra-)?index-url|--registry|/simple/?\b",
    r"(?<![\w.])/(?:home|root)/",
)

_LINK = re.compile(r"\]\(([^)#\s]+)(#[^)]*)?\)")
_PATH = re.compile(
    r"`((?:idp|handlers|storage|templates|locales|tests|docs|requirements)/[\w./-]*)`"
)


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


@cache
def setup_cfg():
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser


def listed(section, option):
    return set(setup_cfg()[section][option].split())


@cache
def tracked():
    """The files of the repository: what git knows, or in an unpacked archive the product's."""
    if (ROOT / ".git").exists():
        command = ["git", "-c", "safe.directory=*", "ls-files", "-z"]
        names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
        return [ROOT / os.fsdecode(name) for name in names.split(b"\0") if name]
    return [path for folder in figures.PRODUCT for path in (ROOT / folder).rglob("*.*")]


# The two commands


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


# The import rule


def test_every_package_of_the_product_is_under_the_import_rule():
    installed = {name.rstrip("*") for name in listed("options.packages.find", "include")}

    assert listed("importlinter", "root_packages") == installed == set(figures.PRODUCT)


def test_every_module_can_be_found_by_the_import_rule():
    """import-linter passes over a folder that is no package."""
    folders = {path.parent for name in figures.PRODUCT for path in (ROOT / name).rglob("*.py")}

    assert not [folder for folder in folders if not (folder / "__init__.py").exists()]


def test_every_module_that_may_be_the_front_door_is_named_as_it():
    section = "importlinter:contract:front-door"

    assert listed(section, "protected_modules") == FRONT_DOOR
    assert listed(section, "allowed_importers") == FRONT_DOOR
    assert listed("importlinter:contract:handlers", "allowed_importers") <= FRONT_DOOR


def test_whole_packages_are_under_each_rule_so_that_a_new_module_is_from_its_first_day():
    packages = set(figures.PRODUCT) | {"idp.identity"}
    sources = {
        name
        for section in setup_cfg().sections()
        if setup_cfg()[section].get("type") == "forbidden"
        for name in listed(section, "source_modules")
    }

    assert {"idp", "handlers", "storage"} <= sources <= packages


@pytest.mark.parametrize(
    ("contract", "option"), [("back-ends", "protected_modules"), ("apart", "modules")]
)
def test_every_back_end_is_named_in_its_contracts(contract, option):
    packages = {f"storage.{path.parent.name}" for path in (ROOT / "storage").glob("*/__init__.py")}

    assert listed(f"importlinter:contract:{contract}", option) == packages


# What is installed


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
    needed += setup_cfg()["options.extras_require"]["fast"].split()

    assert {re.split("[<>=]", each)[0].lower() for each in needed} <= set(pinned)


def test_the_changelog_knows_this_version():
    assert any(
        line.startswith(f"## [{__version__}]") for line in read("CHANGELOG.md").splitlines()
    )


# The pages


def test_the_settings_page_has_every_setting_as_it_is():
    page = read("docs/operating.md")

    assert set(settings_table.names()) == set(config_settings.TYPES)
    assert page == settings_table.replaced(page), "run python -m tests.support.settings_table"


def test_the_operating_page_has_every_check_of_the_doctor_as_it_is():
    page = read("docs/operating.md")

    assert page == checks_table.replaced(page), "run python -m tests.support.checks_table"


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_links_to_is_there(page):
    links = [link for link, _ in _LINK.findall(read(page)) if "://" not in link]

    assert not [link for link in links if not ((ROOT / page).parent / link).exists()]


@pytest.mark.parametrize("page", PAGES)
def test_every_path_that_a_page_names_is_there(page):
    paths = [
        path for path in _PATH.findall(read(page)) if "NAME" not in path and "TAG" not in path
    ]

    assert not [path for path in paths if not (ROOT / path).exists()]


def test_a_link_to_a_place_in_its_page_finds_it():
    page = read("docs/operating.md")
    headings = {
        re.sub(r"[^\w -]", "", line.lstrip("# ")).lower().replace(" ", "-")
        for line in page.splitlines()
        if line.startswith("#")
    }

    assert set(re.findall(r"\]\(#([\w-]+)\)", page)) <= headings


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
    printed = bootstrap.banner(server.told, 0.4, __version__).splitlines()
    shown = read("README.md").splitlines()
    first = shown.index(printed[0])
    labels = [line.split()[0] for line in printed]

    assert [line.split()[0] for line in shown[first : first + len(printed)]] == labels


# What must not be written


def test_no_file_names_a_registry_or_a_place_on_somebodys_machine():
    this = Path(__file__)
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in tracked()
        if path != this and path.is_file()
        for pattern in PRIVATE
        for match in re.finditer(pattern, path.read_text(encoding="utf-8", errors="ignore"))
    ]

    assert not found


def test_the_contents_of_the_page_for_operators_list_all_its_sections():
    page = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
    contents = page.partition("Contents:")[2].partition("\n\n")[0]
    titles = re.findall(r"^## (.+)$", page, re.MULTILINE)

    assert re.findall(r"\(#([^)]+)\)", contents) == [
        re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles
    ]


@pytest.mark.parametrize("name", ["security.md", "operating.md"])
def test_a_page_that_lists_the_defaults_of_each_profile_has_all_of_them(name):
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    rows = {
        name: (_as_text(getattr(TRIAL, name)), _as_text(getattr(PUBLIC, name)))
        for name in TRIAL._fields
    }

    found = {
        name: values for name, *values in re.findall(r"\(`(\w+)`\) \| `(\S+)` \| `(\S+)` \|", page)
    }

    assert {name: tuple(values) for name, values in found.items() if name in rows} == rows


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
