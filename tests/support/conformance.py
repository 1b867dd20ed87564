"""The promises of the service and their tests: `python -m tests.support.conformance`.

`tests/promises.toml` has the sentence of every promise. A test names the promises that it checks
by `@pytest.mark.promise("discovery: path")`. Run as a program, this module collects all tests and
writes docs/conformance.md from both. The gate fails if a promise has no test there.
"""

from __future__ import annotations

import io
import tomllib
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.suites import SUITES

TESTS = Path(__file__).parents[1]
TABLE = TESTS / "promises.toml"
PAGE = TESTS.parent / "docs" / "conformance.md"

_HEAD = """# Conformance

What the service promises, and the tests that check it. Each section names the standard or the
document that it follows. There are {count} promises.

Made by `python -m tests.support.conformance` from `tests/promises.toml` and the marks at the
tests. After each test is its suite: `gate` for each change, `full` after each merge, `load` at
night. A promise without a test in the gate fails the gate.
"""


class MarkedTest(NamedTuple):
    """A test function: the first suite that runs one of its rows, and the ids of the
    promises that it checks."""

    file: str
    name: str
    suite: str
    promises: tuple[str, ...]


@cache
def sections() -> dict[str, dict]:
    """The table: every section with its title, its source and its promises by name."""
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


@cache
def promises() -> dict[str, str]:
    """The sentence of every promise by its id."""
    return {
        f"{section}: {name}": sentence
        for section, content in sections().items()
        for name, sentence in content["promises"].items()
    }


class Collector:
    """A pytest plug-in that notes every test which checks a promise, in their order."""

    def __init__(self) -> None:
        self.tests: list[MarkedTest] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_collection_modifyitems(self, items):
        from tests.support.suites import membership  # pytest has to be the first to import it

        suites = membership.suites_of(items)
        found: dict[tuple[str, str], MarkedTest] = {}
        for item in sorted(items, key=lambda item: SUITES.index(suites[item])):
            names = tuple(name for mark in item.iter_markers("promise") for name in mark.args)
            file = item.path.relative_to(TESTS).as_posix()
            test = MarkedTest(file, item.originalname, suites[item], names)
            found.setdefault((test.file, test.name), test)
        self.tests = sorted(test for test in found.values() if test.promises)
        return (yield)


def marked_tests() -> list[MarkedTest]:
    """Every test that checks a promise. Raises `RuntimeError` if the tests can't be collected."""
    collector = Collector()
    arguments = ["--collect-only", "-qq", "--suite=full", "--no-header", str(TESTS)]
    with redirect_stdout(io.StringIO()) as printed:
        code = pytest.main(arguments, plugins=[collector])
    if code != pytest.ExitCode.OK:
        raise RuntimeError(f"the tests can't be collected: {printed.getvalue()[-1000:]}")
    return collector.tests


def page(tests: list[MarkedTest]) -> str:
    """The current page."""
    lines = [_HEAD.format(count=len(promises()))]
    for section, content in sections().items():
        lines += [f"## {content['title']} ({content['source']})", ""]
        lines += ["| | promise | tests |", "|---|---|---|"]
        for name, sentence in content["promises"].items():
            promise = f"{section}: {name}"
            links = [_link(test) for test in tests if promise in test.promises]
            lines.append(f"| {promise} | {sentence} | {'<br>'.join(links)} |")
        lines.append("")
    return "\n".join(lines)


def _link(test: MarkedTest) -> str:
    text = test.name.removeprefix("test_").replace("_", " ")
    return f"[{text}](../tests/{test.file}) {test.suite}"


if __name__ == "__main__":
    PAGE.write_text(page(marked_tests()), encoding="utf-8")
