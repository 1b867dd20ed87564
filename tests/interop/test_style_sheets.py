"""The style sheets of the pages are what stylelint takes for CSS without mistakes, and name no
side of the screen: pages run from right to left, too."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.interop import node
from tests.support.repository import ROOT
from tests.support.skips import skip

OLDEST_NODE = 24
SHEETS = sorted((ROOT / "templates" / "static" / "css").glob("*.css"))


@pytest.fixture(scope="module")
def stylelint():
    """A function that returns what stylelint finds in files: pairs of a file's name and a rule."""
    try:
        found = node.find(OLDEST_NODE)
        directory = node.install(found, Path(__file__).parent / "style_sheets")
    except node.NoNode as error:
        skip(error)
    program = directory / "node_modules" / "stylelint" / "bin" / "stylelint.mjs"

    def check(*files):
        flags = ("--config", directory / "stylelint.json", "--formatter", "json")
        ended = subprocess.run(
            [found.program, program, *flags, *files],
            cwd=directory,
            env=node.environment(found),
            capture_output=True,
            text=True,
        )
        results = json.loads(ended.stderr or ended.stdout)
        return [
            (Path(each["source"]).name, warning["rule"], warning["line"])
            for each in results
            for warning in each["warnings"]
        ]

    return check


def test_no_style_sheet_has_a_mistake(stylelint):
    assert len(SHEETS) > 1
    assert stylelint(*SHEETS) == []


def test_a_mistake_would_be_found(stylelint, tmp_path):
    sheet = tmp_path / "bad.css"
    sheet.write_text("a {\n  colr: red;\n  margin-left: 1rem;\n}\n")

    assert sorted(stylelint(sheet)) == [
        ("bad.css", "property-disallowed-list", 3),
        ("bad.css", "property-no-unknown", 2),
    ]
