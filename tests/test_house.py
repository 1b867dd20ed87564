"""The house around the code: what its pages promise is so, and no module is left out of a rule."""

from __future__ import annotations

import configparser
import os
import re
import shlex
import shutil
import subprocess
import tomllib
from collections import Counter
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import click
import msgspec
import pytest
from tornado.web import RequestHandler

from handlers.app import App
from idp import __version__, cli
from idp.config import settings as config_settings
from idp.foundation import metrics
from idp.start import announcement
from tests.support import (
    checks_table,
    figures,
    floors_table,
    metrics_table,
    settings_table,
    structure,
)

ROOT = Path(__file__).parent.parent
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

MAX_FILES = 30
MAX_LOOSE_FILES = 6
MAX_PICTURES = 12
MAX_EXCEPTIONS = 52  # of names of built-ins and of long lists of parameters: only downwards
MAX_HANDLER_DEPTH = 5

# Where packages come from is the user's own business, and so is where the tree lies.
PRIVATE = (
    r"--(?:extra-)?index-url|--registry|/simple/?\b",
    r"(?<![\w.])/(?:home|root)/",
)

_LINK = re.compile(r"\]\(([^)#\s]+)(#[^)]*)?\)")
_PATH = re.compile(
    r"`((?:deploy|idp|handlers|storage|templates|locales|tests|docs|requirements)/[\w./-]*)`"
)
# A file name such as `idp.sqlite3` is no module, nor is `idp.access`, the logger of requests.
# Names that begin as a module does: files, a logger, attributes of spans; then permissions.
_NO_MODULES = "sqlite3|toml|access|attempt|client_id|hash|refused|request_id|store"
_DOTTED = re.compile(
    rf"[`(\"](?P<name>(?!idp\.(?:read|write|name|settings|callbackUrl)\b)(?:idp|handlers|storage)(?:\.(?!(?:{_NO_MODULES})\b)\w+)+)(?::\w+)?[`)\"]"
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
    if (ROOT / ".git").exists() and shutil.which("git"):
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


def test_every_package_and_module_of_idp_has_a_floor():
    named = {name for floor in floors_table.floors() for name in floor}
    there = {
        f"idp.{path.stem}"
        for path in (ROOT / "idp").iterdir()
        if path.stem != "__init__" and (path.suffix == ".py" or (path / "__init__.py").exists())
    }

    assert named == there | {"handlers", "storage"}


def test_no_import_is_excepted_from_the_contracts():
    assert not re.findall("allow_indirect|ignore_imports|exclude_type", read("setup.cfg"))


def test_exceptions_from_the_rules_of_names_and_parameters_become_fewer():
    ignored = tomllib.loads(read("pyproject.toml"))["tool"]["ruff"]["lint"]["per-file-ignores"]
    exceptions = [
        (name, code)
        for name, codes in ignored.items()
        for code in codes
        if code in ("A001", "A002", "PLR0913") and "*" not in name
    ]

    assert len(exceptions) <= MAX_EXCEPTIONS
    assert not [name for name, _ in exceptions if not (ROOT / name).exists()]


@pytest.mark.parametrize("page", floors_table.PAGES)
def test_the_floors_on_a_page_are_those_of_the_contract(page):
    text = read(page)

    assert floors_table.BEGIN in text
    assert text == floors_table.replaced(text), "run python -m tests.support.floors_table"


def test_every_module_that_is_named_in_a_page_or_a_docstring_is_there():
    """The names of types in the API's reference are none of modules, though some have dots."""
    unknown = set()
    for path in tracked():
        if path.is_relative_to(ROOT / "docs" / "reference" / "api"):
            continue
        if path.suffix not in (".py", ".md") or path.name in ("CHANGELOG.md", "schema_names.py"):
            continue
        if path.suffix == ".py" and path.relative_to(ROOT).parts[0] not in figures.PRODUCT:
            continue
        for found in _DOTTED.finditer(path.read_text(encoding="utf-8")):
            if not _is_there(found["name"]):
                unknown.add((str(path.relative_to(ROOT)), found["name"]))

    assert not unknown


def _is_there(dotted):
    """Whether the dotted path leads to a module, or to a name that a module binds."""
    module, rest = dotted, []
    while not (path := _module_file(module)):
        module, _, name = module.rpartition(".")
        rest.insert(0, name)
        if not module:
            return False
    return not rest or re.search(rf"\b{rest[0]}\b", path.read_text(encoding="utf-8")) is not None


def _module_file(dotted):
    path = ROOT / dotted.replace(".", "/")
    files = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in files if file.exists()), None)


def test_no_two_packages_import_each_other():
    assert structure.knots() == []


def test_a_class_name_has_one_meaning():
    assert structure.doubled_classes() == {}


@pytest.mark.parametrize("names", [figures.PRODUCT, ("tests", "benchmarks")])
def test_a_folder_holds_no_more_files_than_can_be_surveyed(names):
    files = Counter(path.parent for name in names for path in (ROOT / name).rglob("*.py"))

    assert set(files) >= {ROOT / names[0]}
    assert {folder for folder, number in files.items() if number > MAX_FILES} == set()
    assert files[ROOT / "idp"] <= MAX_LOOSE_FILES


def test_a_handler_inherits_through_few_classes():
    assert App.__module__ == "handlers.app"  # which imports every handler
    handlers = {
        kind for kind in _subclasses(RequestHandler) if kind.__module__.startswith("handlers.")
    }
    deep = {kind.__name__ for kind in handlers if _depth(kind) > MAX_HANDLER_DEPTH}

    assert "AuthorizeHandler" in {kind.__name__ for kind in handlers}
    assert not deep, "a handler has another as a part instead of as a base"


def _subclasses(kind):
    for each in kind.__subclasses__():
        yield each
        yield from _subclasses(each)


def _depth(kind):
    """How many classes lie between a handler and Tornado's own, with itself."""
    bases = [base for base in kind.__bases__ if issubclass(base, RequestHandler)]
    return 0 if kind is RequestHandler else 1 + max(map(_depth, bases))


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
    extras = setup_cfg()["options.extras_require"]
    needed += extras["fast"].split() + extras["otel"].split()

    assert {re.split(r"[\[<>=]", each)[0].lower() for each in needed} <= set(pinned)


def test_the_changelog_knows_this_version():
    section = "Unreleased" if __version__.endswith("-dev") else __version__
    assert f"\n## [{section}]" in read("CHANGELOG.md")


# The pages


def test_documents_show_few_pictures():
    """All others are made by a command: git keeps every version of a picture for good."""
    assert len(list((ROOT / "docs").rglob("*.png"))) <= MAX_PICTURES


def test_the_settings_page_has_every_setting_as_it_is():
    page = read("docs/reference/settings.md")

    assert set(settings_table.names()) == set(config_settings.TYPES)
    assert page == settings_table.replaced(page), "run python -m tests.support.settings_table"


def test_the_page_on_observing_has_every_check_of_the_doctor_as_it_is():
    page = read("docs/how-to/observing.md")

    assert page == checks_table.replaced(page), "run python -m tests.support.checks_table"


def test_the_page_of_metrics_has_those_that_are_declared():
    page = read("docs/reference/metrics.md")

    assert metrics_table.documented(page) == set(metrics.DECLARED)
    assert page == metrics_table.replaced(page), "run python -m tests.support.metrics_table"


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


@pytest.mark.parametrize("name", MANUAL)
def test_a_link_to_a_place_in_its_page_finds_it(name):
    page = read(name)
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
    first = msgspec.structs.replace(server.start, is_first=True)
    release = __version__.removesuffix("-dev")
    printed = announcement.banner(first, 0.4, release).splitlines()
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


@pytest.mark.parametrize("name", MANUAL[:3])
def test_the_contents_of_a_page_for_operators_list_all_its_sections(name):
    page = read(name)
    contents = page.partition("Contents:")[2].partition("\n\n")[0]
    titles = re.findall(r"^## (.+)$", page, re.MULTILINE)

    assert re.findall(r"\(#([^)]+)\)", contents) == [
        re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles
    ]
