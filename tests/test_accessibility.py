"""docs/accessibility.md has a row for each criterion, with a result and tests that there are."""

from __future__ import annotations

import ast
import re
from functools import cache
from importlib import resources

import pytest

from idp.foundation import i18n
from tests.support import documents

ROOT = documents.ROOT
PAGE = ROOT / "docs" / "accessibility.md"
# Tests that exist to check a criterion name it in their docstring.
SECTION = "tests/browser/accessibility/"
AXE = "tests/browser/pages/test_matrix.py::test_a_page_is_for_everybody"
BY_PROGRAM, NOT_YET = "by program", "not checked yet"
RESULT = re.compile(
    rf"{BY_PROGRAM}|by hand \d{{4}}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])|{NOT_YET}"
)
CRITERION = re.compile(r"\b[1-4]\.[1-5]\.\d{1,2}\b")
# WCAG 2.2, levels A and AA, by guideline. 4.1.1 is obsolete; level AAA is left out.
CRITERIA = {
    "1.1": [1],
    "1.2": [1, 2, 3, 4, 5],
    "1.3": [1, 2, 3, 4, 5],
    "1.4": [1, 2, 3, 4, 5, 10, 11, 12, 13],
    "2.1": [1, 2, 4],
    "2.2": [1, 2],
    "2.3": [1],
    "2.4": [1, 2, 3, 4, 5, 6, 7, 11],
    "2.5": [1, 2, 3, 4, 7, 8],
    "3.1": [1, 2],
    "3.2": [1, 2, 3, 4, 6],
    "3.3": [1, 2, 3, 4, 7, 8],
    "4.1": [2, 3],
}
WCAG = [f"{guideline}.{n}" for guideline, numbers in CRITERIA.items() for n in numbers]
NEW_IN_2_2 = {"2.4.11", "2.5.7", "2.5.8", "3.2.6", "3.3.7", "3.3.8"}
# Clauses of EN 301 549 V3.2.1, but for the informative ones.
CLAUSES = [
    *("5.1.2.1", "5.1.2.2", *(f"5.1.3.{n}" for n in range(1, 17)), "5.1.4", "5.1.5"),
    *("5.1.6.1", "5.1.6.2", "5.1.7", "5.2", "5.3", "5.4", "5.5.1", "5.5.2", "5.6.1", "5.6.2"),
    *("5.7", "5.8", "5.9", "9.1", "9.4.1.1", "9.6", "11.7"),
    *("12.1.1", "12.1.2", "12.2.2", "12.2.3", "12.2.4"),
]
FLOWS = ("sign in", "register", "reset the password", "enrol a second factor", "consent")


def rows(heading):
    """The cells of each row of the table below a heading."""
    text = PAGE.read_text(encoding="utf-8")
    section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def criteria():
    """Each criterion with the tests that check it and the result."""
    found = rows("WCAG 2.2, levels A and AA")
    return {row[0].split()[0]: (named_in(row[4]), row[5]) for row in found}


def named_in(cell):
    return re.findall(r"`([^`]+)`", cell)


@cache
def functions_of(file):
    """The functions of a module with their docstrings."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    found = [each for each in ast.walk(tree) if isinstance(each, _FUNCTIONS)]
    return {each.name: ast.get_docstring(each) or "" for each in found}


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def named_by_tests():
    """Each criterion that tests of this section name, with these tests."""
    found = {}
    for path in sorted((ROOT / SECTION).glob("test_*.py")):
        file = path.relative_to(ROOT).as_posix()
        for name, text in functions_of(file).items():
            for criterion in numbers_in(text) if name.startswith("test_") else ():
                found.setdefault(criterion, set()).add(f"{file}::{name}")
    return found


def numbers_in(text):
    """The criteria that a text names, those between two as well: "1.2.1 to 1.2.5"."""
    found = CRITERION.findall(text)
    for first, last in re.findall(rf"({CRITERION.pattern}) to ({CRITERION.pattern})", text):
        found += WCAG[WCAG.index(first) : WCAG.index(last)]
    return set(found)


def of_axe():
    """The criteria for which axe has a rule that runs unless it is told otherwise."""
    script = (resources.files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
    found = set()
    for tags in re.findall(r'tags:\[("[^\]]*")\]', script):
        if not re.search("experimental|deprecated|wcag22a", tags):
            found |= set(re.findall(r'"wcag([1-4])([1-5])(\d{1,2})"', tags))
    return {".".join(number) for number in found} & set(WCAG)


def test_every_criterion_has_one_row_in_its_place():
    table = rows("WCAG 2.2, levels A and AA")

    assert len(WCAG) == 55
    assert [row[0].split()[0] for row in table] == WCAG
    for name, level, clause, how, *_ in table:
        number, title = name.split(maxsplit=1)
        assert title
        assert how
        assert level in ("A", "AA")
        assert clause == ("–" if number in NEW_IN_2_2 else f"9.{number}")


def test_every_clause_has_one_row_in_its_place():
    table = rows("EN 301 549 V3.2.1")

    assert [row[0].split()[0] for row in table] == CLAUSES
    assert all(how for _, how, *_ in table)


@pytest.mark.parametrize("heading", ["WCAG 2.2, levels A and AA", "EN 301 549 V3.2.1"])
def test_a_result_by_program_names_tests_and_every_test_exists(heading):
    for *_, cell, result in rows(heading):
        assert RESULT.fullmatch(result), result
        assert bool(named_in(cell)) == (result == BY_PROGRAM), cell
        for test in named_in(cell):
            file, _, name = test.partition("::")
            assert name.startswith("test_")
            assert name in functions_of(file), test


@pytest.mark.full  # axe is of the tests with a browser
def test_what_a_program_checks_says_so():
    table = criteria()
    axe, named = of_axe(), named_by_tests()

    assert len(axe) >= 15
    assert len(named) >= 25
    assert {each for each in table if AXE in table[each][0]} == axe
    for criterion in axe | set(named):
        assert table[criterion][1] != NOT_YET, criterion
    for criterion, tests in named.items():
        assert tests <= set(table[criterion][0]), criterion


def test_a_test_of_this_section_names_the_criteria_whose_rows_name_it():
    named = named_by_tests()

    for criterion, (tests, _) in criteria().items():
        own = {test for test in tests if test.startswith(SECTION)}
        assert own == named.get(criterion, set()), criterion


def test_the_checklist_has_a_result_for_all_that_needs_a_person():
    table = dict(rows("Release checklist"))
    languages = {each.rpartition(" ")[2] for each in table if "native reviewer" in each}

    assert all(RESULT.fullmatch(result) for result in table.values())
    assert BY_PROGRAM not in table.values()
    assert languages == set(i18n.available()) - {i18n.SOURCE}
    assert {each for each in table if each.startswith("Orca")} == {
        f"Orca with Firefox: {flow}" for flow in FLOWS
    }
    for begin in ("Keyboard only", "Forced colours", "Text of 200 %", "Mails", "Trademark"):
        assert len([each for each in table if each.startswith(begin)]) == 1


@pytest.mark.parametrize("file", ["README.md", "docs/index.md", "docs/project/releasing.md"])
def test_readers_are_led_to_the_document(file):
    assert re.search(r"\]\([^)]*\baccessibility\.md", (ROOT / file).read_text(encoding="utf-8"))
    assert len(rows("Features")) > 5


@pytest.mark.parametrize(
    "page", documents.pages(ROOT), ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_a_document_can_be_read_without_its_pictures_and_by_its_headings(page):
    text = re.sub(r"^(```|~~~).*?^\1\s*$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    levels = [len(marks) for marks in re.findall(r"^(#{1,6}) ", text, re.MULTILINE)]

    assert "![](" not in text
    assert all(after <= before + 1 for before, after in zip(levels, levels[1:], strict=False))
