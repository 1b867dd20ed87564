"""The three suites: what is in each, what the gate refuses, and that it has every promise."""

from __future__ import annotations

import configparser
import re
import sys
from types import SimpleNamespace

import pytest

from tests.support import conformance, patience
from tests.support.suites import FULL, GATE, LOAD, promises, refusals
from tests.support.suites.membership import (
    FULL_FOLDERS,
    LOAD_FOLDERS,
    TESTS,
    is_public,
    suite_of,
    suites_of,
)

ROOT = TESTS.parent


class Item:
    """A test as pytest collects it."""

    def __init__(self, file="idp/test_a.py", marks=(), fixtures=(), row=None, name="test_a"):
        self.path, self.originalname, self.cls = TESTS / file, name, None
        self.nodeid = f"tests/{file}::{name}"
        self.fixturenames = [*fixtures, *(row or {})]
        self.marks = list(marks)
        if row:
            self.callspec = SimpleNamespace(params=row)

    def iter_markers(self, name):
        return [mark for mark in self.marks if mark.name == name]

    def get_closest_marker(self, name):
        return next(iter(self.iter_markers(name)), None)


@pytest.mark.parametrize(
    ("item", "suite"),
    [
        (Item(), GATE),
        (Item(fixtures=["server"]), GATE),
        (Item("program/commands/test_a.py"), GATE),
        (Item(fixtures=["server", "start_program"]), FULL),
        (Item(fixtures=["emptied_mongodb"]), FULL),
        (Item(row={"settings": "mongodb"}), FULL),
        (Item(row={"settings": "sqlite"}), GATE),
        (Item("storage/test_a.py", row={"backend": "sqlite"}), FULL),
        (Item("storage/test_a.py", row={"backend": "memory"}), GATE),
        (Item("flows/test_a.py", row={"place": "memory"}), GATE),
        (Item("flows/test_a.py", row={"place": "sqlite"}), FULL),
        (Item("browser/pages/test_a.py"), FULL),
        (Item("storage/fire/test_a.py"), LOAD),
        (Item(marks=[pytest.mark.full.mark]), FULL),
        (Item(marks=[pytest.mark.load.mark]), LOAD),
        (Item(marks=[pytest.mark.load("mongodb").mark], row={"settings": "mongodb"}), LOAD),
        (Item(marks=[pytest.mark.load("mongodb").mark], row={"settings": "sqlite"}), GATE),
        (Item(marks=[pytest.mark.smoke.mark], fixtures=["start_program"]), GATE),
    ],
)
def test_a_test_is_in_the_suite_that_its_needs_say(item, suite):
    assert suite_of(item) == suite


@pytest.mark.parametrize(("number", "stay"), [(3, [0, 1, 2]), (4, [0, 2, 3]), (101, [0, 50, 100])])
def test_of_a_long_table_over_a_service_the_gate_has_three_rows(number, stay):
    rows = [Item(fixtures=["server"], row={"n": n}) for n in range(number)]
    suites = suites_of(rows)

    assert [n for n, row in enumerate(rows) if suites[row] == GATE] == stay
    assert {suites[row] for row in rows} <= {GATE, FULL}


def test_a_long_table_of_a_function_or_of_rows_that_all_matter_stays_whole():
    rows = [Item(row={"n": n}) for n in range(20)]
    marks = [pytest.mark.every_row.mark]
    others = [Item(marks=marks, fixtures=["server"], row={"n": n}, name="b") for n in range(20)]

    assert set(suites_of([*rows, *others]).values()) == {GATE}


def test_the_folders_of_the_other_suites_are_there():
    folders = {path.name for path in TESTS.rglob("*") if path.is_dir()}

    assert not (FULL_FOLDERS | LOAD_FOLDERS) - folders


def test_tox_runs_the_gate_and_the_linters_by_default():
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / "tox.ini", encoding="utf-8")

    assert parser["tox"]["env_list"] == "gate"
    for linters in ("lint", "types"):
        assert f"{{[testenv:{linters}]commands}}" in parser["testenv:gate"]["commands"]
    for suite in (GATE, FULL, LOAD):
        assert f"pytest --suite={suite}" in parser[f"testenv:{suite}"]["commands"]


def test_the_run_of_a_public_installation_collects_every_file_that_it_is_for():
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / "tox.ini", encoding="utf-8")
    _, _, command = parser["testenv:full"]["commands"].partition("IDP_TEST_PROFILE=public")
    folders = [ROOT / name for name in re.findall(r"tests/handlers/\w+", command)]
    files = {path for path in TESTS.rglob("test_*.py") if is_public(path)}

    assert len(files) > 30
    assert not [path for path in files if not set(path.parents) & set(folders)]
    assert all(any(folder in path.parents for path in files) for folder in folders)


# What the gate refuses


def test_a_test_of_the_gate_starts_no_process():
    refusals.refuse_processes("open", ("settings.toml",))

    with pytest.raises(refusals.NotInGate, match="starts true: mark it `full` or `smoke`"):
        refusals.refuse_processes("subprocess.Popen", ("true",))


@pytest.mark.parametrize("does", ["sleeps 0.01 s", "reads time.monotonic"])
def test_a_test_of_the_gate_neither_sleeps_nor_reads_a_clock(does):
    with pytest.raises(refusals.NotInGate, match=f"{does} in test_suites.py"):
        refusals.refuse_from_tests(sys._getframe(), does)


def test_the_gate_replaces_what_sleeps_and_what_reads_a_clock():
    sleep = refusals._refusing_sleep(lambda delay: delay)
    read = refusals._refusing_clock("perf_counter")

    assert sleep(0) == 0
    with pytest.raises(refusals.NotInGate, match="sleeps 1 s"):
        sleep(1)
    with pytest.raises(refusals.NotInGate, match="perf_counter"):
        read()


async def test_whoever_waits_for_something_waits_until_it_happens():
    asked = iter([0, 0, "it"])

    assert await patience.until(lambda: next(asked)) == "it"
    with pytest.raises(AssertionError, match="a miracle did not happen"):
        await patience.until(lambda: False, "a miracle", seconds=0)


def test_the_product_may_sleep_and_read_a_clock():
    caller = SimpleNamespace(f_code=SimpleNamespace(co_filename="/product/idp/clock.py"))

    refusals.refuse_from_tests(caller, "sleeps 1 s")


# Promises


@pytest.mark.parametrize("section", conformance.sections())
def test_a_section_of_the_promises_names_what_it_follows(section):
    content = conformance.sections()[section]

    assert set(content) == {"title", "source", "promises"}
    assert all(content.values())


@pytest.mark.parametrize("marked", [[("a: b",), ("a: b",)], [()]])
def test_a_mark_names_promises_and_each_once(marked):
    marks = [pytest.mark.promise(*names).mark for names in marked]

    with pytest.raises(pytest.UsageError, match="names a promise twice, or none"):
        promises.promises_of(Item(marks=marks))


def test_a_promise_without_a_test_in_the_gate_is_named():
    assert promises.difference({"a: b"}, {"a: b"}) is None
    assert promises.difference({"a: b"}, {"a: b", "a: c"}) == (
        "promises without a test in the gate: a: c"
    )


def test_a_mark_that_names_no_promise_is_named():
    assert promises.difference({"a: b", "a: d"}, {"a: b"}) == "marks that name no promise: a: d"


def test_a_worker_that_misses_a_promise_runs_nothing_and_reports_it(monkeypatch):
    monkeypatch.setattr(promises, "_problems", set())
    config = SimpleNamespace(stash={promises.IS_WHOLE: True}, workerinput={}, workeroutput={})
    items = [Item()]
    promises.pytest_collection_modifyitems(config, items)
    promises.pytest_testnodedown(config)

    assert not items
    (problem,) = promises._problems
    assert problem.startswith("promises without a test in the gate: ")


@pytest.mark.parametrize(
    "arguments", [["tests/idp"], ["-k", "a"], ["--suite=full"], ["--lf"], ["--deselect", "a"]]
)
def test_only_a_whole_run_of_the_gate_is_held_to_the_promises(arguments):
    assert promises.is_whole(configured())
    assert not promises.is_whole(configured(*arguments))


def configured(*arguments):
    """The configuration of pytest with these arguments, in this project."""
    return pytest.Config.fromdictargs({}, ["--rootdir", str(ROOT), *arguments])


def test_a_promise_whose_tests_were_all_skipped_fails_the_run(monkeypatch):
    monkeypatch.setattr(promises, "_skipped", set())
    monkeypatch.setattr(promises, "_ran", set())
    monkeypatch.setattr(promises, "_problems", set())
    config = SimpleNamespace(stash={promises.IS_WHOLE: True})
    session = SimpleNamespace(config=config, exitstatus=0)
    for kind, name in [("skipped", "a: b"), ("skipped", "a: c"), ("passed", "a: c")]:
        promises.pytest_runtest_logreport(
            SimpleNamespace(skipped=kind == "skipped", when="call", promises=[name])
        )
    promises.pytest_sessionfinish(session)

    assert session.exitstatus == pytest.ExitCode.USAGE_ERROR
    assert promises._problems == {"promise whose tests were skipped: a: b"}
