"""The site of the documentation: its source, what the built pages load, and its search."""

from __future__ import annotations

import importlib.util
import json
import re
import runpy
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from idp import __version__
from idp.api import PARTS
from idp.foundation import product
from tests.support import api_pages, figures
from tests.support.site import requests, source
from tests.support.skips import skip
from tests.test_house import ROOT, read, setup_cfg, tracked
from tests.test_repository import options

DOCS = ROOT / "docs"
_TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site as `tox -e docs` builds it, where a warning is an error."""
    if importlib.util.find_spec("sphinx") is None:
        skip("Sphinx is not installed: pip install -e '.[docs]'")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "-n", "--keep-going", "-q", DOCS, folder]
    built = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert built.returncode == 0, built.stderr
    return folder


def entries(page):
    """The documents that the lists of contents on a page name, with their patterns resolved."""
    for block in _TOCTREE.findall(page.read_text(encoding="utf-8")):
        for line in block.splitlines():
            if line and not line.startswith(":"):
                yield from page.parent.glob("**/*.md" if line == "**" else f"{line}.md")


def addresses(html):
    """What the elements of a page link to or load, without queries and anchors."""
    found = []
    parser = HTMLParser()
    parser.handle_starttag = lambda _, attributes: found.extend(
        re.split("[?#]", value)[0] for name, value in attributes if name in ("href", "src")
    )
    parser.feed(html)
    return found


# The source


def test_the_configuration_is_that_of_this_version_and_name():
    configured = runpy.run_path(str(DOCS / "conf.py"))

    assert (configured["project"], configured["release"]) == (product.NAME, __version__)
    assert configured["html_theme"] == "furo"
    assert set(configured["extensions"]) == {"myst_parser", "sphinx_copybutton"}


def test_the_tools_of_the_site_are_pinned_and_built_with_warnings_as_errors():
    pinned = setup_cfg()["options.extras_require"]["docs"].split()
    commands = read("tox.ini").partition("[testenv:docs]")[2].partition("\n[")[0]

    assert {each.partition("==")[0] for each in pinned} == {
        *("furo", "myst-parser", "sphinx", "sphinx-copybutton"),
    }
    assert all("==" in each for each in pinned)
    assert "docs" in re.findall(r"^extras = (.*)$", commands, re.M)[0].split(", ")
    assert re.search(r"^ +sphinx-build -W -n .*docs build/docs$", commands, re.M)
    assert "tests.support.site.requests build/docs" in commands


def test_a_release_builds_the_site_with_the_tools_of_the_extra():
    pinned = setup_cfg()["options.extras_require"]["docs"].split()
    asked = [line for line in read("requirements/docs.in").splitlines() if line[0] != "#"]
    locked = read("requirements/docs.txt")

    assert asked == pinned
    assert all(f"\n{each} \\\n" in locked for each in pinned)
    assert options(locked) == {"--hash"}
    assert "--requirement requirements/docs.txt" in read("deploy/release")


def test_every_page_is_in_a_list_of_contents():
    pages = set(DOCS.rglob("*.md")) - {DOCS / name for name in source.moved()}
    reached = {DOCS / "index.md"}
    waiting = list(reached)
    while waiting:
        new = set(entries(waiting.pop())) - reached
        reached |= new
        waiting += new

    assert pages - reached == set()


def test_a_page_that_moved_leaves_a_line_at_its_old_place():
    """For one release, and on pages that are read as they are: the site has the new ones alone."""
    for name in source.moved():
        new = re.search(r"\]\((.+)\)", (DOCS / name).read_text(encoding="utf-8"))[1]
        target = (DOCS / name).parent / new
        assert target.is_file()
        assert str(target.resolve().relative_to(DOCS)) not in source.moved()
    assert runpy.run_path(str(DOCS / "conf.py"))["exclude_patterns"] == source.moved()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[a](how-to/running.md#tls)", "[a](../how-to/running.md#tls)"),
        ("[a](../CHANGELOG.md)", "[a](changelog.md)"),
        ("[a](../CHANGELOG.md#unreleased)", "[a](changelog.md#unreleased)"),
        ("[`a` b](../tests/conftest.py)", "`a` b"),
        ("![a](screens/b.png)", "![a](../screens/b.png)"),
        ("[a](https://example.com) [b](#c)", "[a](https://example.com) [b](#c)"),
        ("`[a](../x.py)`", "`[a](../x.py)`"),
        ("```\n[a](../x.py)\n```\n", "```\n[a](../x.py)\n```\n"),
        ("a `b` [c](../x.py)\nd `e`", "a `b` c\nd `e`"),
    ],
)
def test_a_link_is_changed_to_where_the_site_has_its_target(text, shown):
    origin, page = DOCS / "index.md", DOCS / "project" / "page.md"

    assert source.with_links(text, origin, page) == shown


def test_a_page_shows_a_file_of_the_repository():
    text = [(DOCS / "project" / "changelog.md").read_text(encoding="utf-8")]

    source.prepare("project/changelog", text)

    assert text[0].startswith("# Changelog\n\nWhat is new for those")
    assert "](docs/" not in text[0]


def test_a_page_that_shows_a_file_links_to_it_where_pages_are_read_as_they_are():
    assert len(source.shown_by()) >= 5
    for file, page in source.shown_by().items():
        assert file.is_file()
        assert f"](../../{file.relative_to(ROOT)})" in page.read_text(encoding="utf-8")


# The README, the name and the mark


def test_the_readme_is_short_and_shows_a_page_in_light_and_dark():
    text = read("README.md")
    picture = re.search(r"<picture>(.*?)</picture>", text, re.DOTALL)[1]

    assert len(text.splitlines()) <= 150
    assert "(prefers-color-scheme: dark)" in picture
    shown = re.findall(r'src(?:set)?="([^"]+)"', picture)
    assert [name.rpartition("-")[2] for name in shown] == ["dark.png", "light.png"]
    assert all((ROOT / name).is_file() for name in shown)


def test_the_display_name_is_in_one_module_of_the_product():
    suffixes = (".py", ".mako", ".po", ".pot", ".js", ".css")
    named = {
        str(path.relative_to(ROOT))
        for path in tracked()
        if path.suffix in suffixes and path.relative_to(ROOT).parts[0] in figures.PRODUCT
        if product.NAME in path.read_text(encoding="utf-8")
    }

    assert named == {"idp/foundation/product.py"}


@pytest.mark.parametrize(
    ("name", "paths", "grid"),
    [("mark", 1, "0 0 24 24"), ("mono", 1, "0 0 24 24"), ("wordmark", 2, "0 0 84 24")],
)
def test_the_mark_is_one_path_on_a_grid_of_24_units(name, paths, grid):
    text = read_brand(name)
    root = ElementTree.fromstring(text)
    drawn = [each for each in root.iter() if each.tag.endswith("}path")]

    assert root.get("viewBox") == grid
    assert (root.get("role"), root.get("aria-label")) == ("img", product.NAME)
    assert len(drawn) == paths
    assert requests.of_page(text) == []
    marks = re.findall(
        r'd="(M2 22V[^"]+)"', "".join(map(read_brand, ("mark", "mono", "wordmark")))
    )
    assert len(marks) == 3
    assert len(set(marks)) == 1


def read_brand(name):
    return (DOCS / "brand" / f"{name}.svg").read_text(encoding="utf-8")


# The API reference


def test_the_pages_of_the_api_are_made_of_its_description():
    assert api_pages.differing() == [], "run python -m tests.support.api_pages"


def test_every_call_of_the_api_is_on_one_page():
    text = "".join(api_pages.pages().values())
    operations = [each for part in PARTS.values() for each in part]

    assert len(operations) > 200
    for each in operations:
        assert text.count(f"\n## {each.method} `{each.path}`\n\n{each.summary}\n") == 1


def test_pages_of_the_api_that_differ_are_missing_or_left_over_fail_the_check(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(api_pages, "FOLDER", tmp_path)
    assert api_pages.main([]) == 0
    (tmp_path / "left.md").write_text("x")
    (tmp_path / "users.md").write_text("x")
    (tmp_path / "mail.md").unlink()

    assert api_pages.main(["--check"]) == 1
    found = capsys.readouterr().out
    assert re.findall(r"api/([\w-]+)\.md", found) == ["left", "mail", "users"]
    assert api_pages.main([]) == 0
    assert api_pages.main(["--check"]) == 0


# What a page loads


@pytest.mark.parametrize(
    "html",
    [
        '<script src="https://cdn.example/x.js"></script>',
        '<script src="//cdn.example/x.js"></script>',
        '<link rel="stylesheet" href="http://cdn.example/x.css">',
        '<link rel="shortcut icon" href="https://cdn.example/x.ico">',
        '<link rel="preconnect" href="https://cdn.example">',
        '<img src="HTTPS://cdn.example/x.png">',
        '<img srcset="a.png 1x, https://cdn.example/x.png 2x">',
        '<picture><source srcset="https://cdn.example/x.png"></picture>',
        '<iframe src="https://cdn.example/"></iframe>',
        "<p style=\"background: url('https://cdn.example/x.png')\">",
        "<style>@font-face { src: url(https://cdn.example/x.woff2) }</style>",
        '<style>@import "https://cdn.example/x.css";</style>',
        '<svg><image href="https://cdn.example/x.png"/></svg>',
    ],
)
def test_what_a_page_would_load_from_elsewhere_is_found(html):
    assert len(requests.of_page(html)) == 1


@pytest.mark.parametrize(
    "html",
    [
        '<a href="https://example.com">x</a>',
        '<link rel="canonical" href="https://example.com">',
        '<script src="_static/x.js"></script><img src="../x.png" alt="https://example.com">',
        "<p>url(https://example.com)</p>",
        '<img src="data:image/png;base64,//8=">',
        '<svg xmlns="http://www.w3.org/2000/svg"><use href="#x"/></svg>',
    ],
)
def test_a_link_or_a_file_of_the_site_is_no_request(html):
    assert requests.of_page(html) == []


def test_a_folder_with_a_request_or_without_a_site_fails_the_check(tmp_path, capsys):
    assert requests.main([str(tmp_path)]) == 1
    (tmp_path / "index.html").write_text("<p>x</p>")
    assert requests.main([str(tmp_path)]) == 0
    (tmp_path / "x.css").write_text("a { background: url(//cdn.example/x.png) }")
    assert requests.main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "x.css: //cdn.example/x.png"


# The built site


@pytest.mark.load
def test_the_built_site_loads_nothing_from_elsewhere(site):
    assert list(requests.of_site(site)) == []
    assert len(list(site.rglob("*.html"))) > 30


@pytest.mark.load
def test_the_built_site_has_no_link_that_leaves_it(site):
    """It is read from a folder: a link that starts at a root or climbs out leads nowhere there."""
    dead = set()
    for page in site.rglob("*.html"):
        for address in addresses(page.read_text(encoding="utf-8")):
            if re.match(r"[a-z]+:|$", address):
                continue
            target = (page.parent / address).resolve()
            if not (target.is_relative_to(site.resolve()) and target.exists()):
                dead.add((str(page.relative_to(site)), address))

    assert dead == set()


@pytest.mark.load
def test_the_search_of_the_site_finds_redirect_uris_without_a_server(site):
    index = json.loads(re.search(r"\((\{.*\})\)", _index(site), re.DOTALL)[1])
    pages = {term: _documents(index["terms"][term]) for term in ("redirect", "uri")}
    found = {index["docnames"][number] for number in pages["redirect"] & pages["uri"]}

    assert {"reference/applications", "reference/management"} <= found
    scripts = re.findall(r'<script src="([^"]+)"', (site / "search.html").read_text("utf-8"))
    assert "searchindex.js" in scripts


def _index(site: Path) -> str:
    return (site / "searchindex.js").read_text(encoding="utf-8")


def _documents(value: int | list[int]) -> set[int]:
    return set(value) if isinstance(value, list) else {value}
