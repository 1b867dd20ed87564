"""The integration guides: one for each preset, as the documentation has them."""

from __future__ import annotations

import ast
import configparser
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from babel.messages.pofile import read_po

from idp.clients import presets
from tests.support import guides, patience
from tests.support.guides import __main__ as program
from tests.support.guides import page

ROOT = Path(__file__).parents[3]
LONGEST = 25
PAGES = guides.pages()

every_guide = pytest.mark.parametrize("name", guides.GUIDES)

_CODE = re.compile(r"```.*?```|<!--.*?-->|\]\([^)]*\)|^\|.*?$", re.DOTALL | re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.?!:;])\s+|\n+")


def test_each_preset_has_a_guide():
    assert set(guides.GUIDES) == set(presets.all_presets())
    assert len(guides.GUIDES) >= 20


def test_the_documentation_has_the_guides_as_they_are_made(monkeypatch):
    monkeypatch.chdir(ROOT)

    assert program.main(["--check"]) == 0


@pytest.mark.parametrize(
    "spoil",
    [
        lambda place: (place / "flask.md").write_text("changed"),
        lambda place: (place / "flask.md").unlink(),
        lambda place: (place / "word-press.md").write_text("of no preset"),
        lambda place: (place / "README.md").write_text("another index"),
    ],
)
def test_the_check_finds_a_page_that_differs_and_the_next_run_repairs_it(tmp_path, capsys, spoil):
    place = tmp_path / "docs"
    assert program.main([str(place)]) == 0
    assert program.main(["--check", str(place)]) == 0
    spoil(place)
    before = {file: file.read_text() for file in place.iterdir()}

    assert program.main(["--check", str(place)]) == 1
    assert len(capsys.readouterr().out.splitlines()) == 1
    assert {file: file.read_text() for file in place.iterdir()} == before
    assert program.main([str(place)]) == 0
    assert {file.name: file.read_text() for file in place.iterdir()} == PAGES


@every_guide
def test_a_guide_has_its_five_parts_in_their_order(name):
    parts = ["What you need", "Register", "Configure", "Test", "Troubleshoot"]

    assert re.findall(r"^## (.+)$", PAGES[f"{name}.md"], re.MULTILINE) == parts


@every_guide
def test_a_guide_shows_the_configuration_of_its_preset(name):
    host = guides.GUIDES[name].host or page.ANY_HOST
    text = presets.configuration(name, page.ISSUER, page.CLIENT_ID, host)
    wanted = [line for line in text.splitlines() if line and not re.match("(# )?---", line)]

    shown = PAGES[f"{name}.md"].splitlines()
    assert [line for line in wanted if line not in shown] == []


def parse_ini(text):
    configparser.ConfigParser(interpolation=None).read_string(text)


def parse_shell(text):
    subprocess.run(["bash", "-n"], input=text, text=True, check=True, timeout=patience.SECONDS)


# The languages that can be read here; the programs of others run in the tests, or nowhere.
PARSERS = {
    "python": ast.parse,
    "toml": tomllib.loads,
    "yaml": lambda text: list(yaml.safe_load_all(text)),
    "ini": parse_ini,
    "sh": parse_shell,
}


@pytest.mark.parametrize(
    ("name", "file"),
    [
        pytest.param(name, file, marks=[pytest.mark.full] if language == "sh" else [])
        for name, guide in guides.GUIDES.items()
        for file, language in zip(
            presets.find(name).file.split(", "), guide.languages, strict=True
        )
        if language in PARSERS
    ],
)
def test_a_file_of_a_guide_is_well_formed(name, file):
    texts = guides.files(name, page.ISSUER, page.CLIENT_ID, "app.example")
    language = guides.GUIDES[name].languages[list(texts).index(file)]

    PARSERS[language](texts[file])


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "x ="),
        ("toml", "x ="),
        ("yaml", "x: ["),
        ("ini", "x"),
        pytest.param("sh", "if", marks=pytest.mark.full),
    ],
)
def test_a_file_that_is_malformed_is_found(language, text):
    errors = (SyntaxError, ValueError, yaml.YAMLError, configparser.Error)
    with pytest.raises((*errors, subprocess.CalledProcessError)):
        PARSERS[language](text)


@every_guide
def test_the_sentences_of_a_guide_are_short(name):
    prose = _CODE.sub("\n", PAGES[f"{name}.md"])
    cells = re.findall(r"(?<=\| )[^|]+(?= \|)", PAGES[f"{name}.md"])
    sentences = [one for text in (prose, *cells) for one in _SENTENCE_END.split(text)]

    assert [one for one in sentences if len(one.split()) > LONGEST] == []


@every_guide
def test_a_row_of_a_guide_has_three_cells(name):
    rows = [line for line in PAGES[f"{name}.md"].splitlines() if line.startswith("| ")]

    assert rows
    assert {row.count(" | ") for row in rows} == {2}


def test_what_a_guide_calls_a_part_of_the_console_is_written_there():
    with (ROOT / "locales" / "messages.pot").open("rb") as file:
        texts = {entry.id for entry in read_po(file)}
    steps = {
        label
        for name in guides.GUIDES
        for label in re.findall(
            r"\*\*(.+?)\*\*",
            PAGES[f"{name}.md"].partition("In the console:")[2].partition("Or on the")[0],
        )
    }

    assert steps - {preset.title for preset in presets.all_presets().values()} <= texts
    assert {"Applications", "New application", "Create the application"} <= steps
    assert set(page.KINDS.values()) <= steps


@pytest.mark.parametrize(
    "name", [name for name, guide in guides.GUIDES.items() if guide.tested_by]
)
def test_a_guide_that_is_tested_is_named_in_its_test(name):
    text = (ROOT / "tests" / guides.GUIDES[name].tested_by).read_text(encoding="utf-8")

    assert f'"{name}"' in text
    assert "presets.configuration(" in text or "import registered" in text


def test_the_index_says_which_guides_are_tested():
    tested = re.findall(r"`([a-z0-9-]+)` \| tested \|", PAGES[guides.INDEX])

    assert tested == [name for name in presets.all_presets() if guides.GUIDES[name].tested_by]
    assert len(tested) >= 8
