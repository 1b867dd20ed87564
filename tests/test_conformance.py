"""Every promise of the ledger has its tests, and the page that shows it is the ledger's."""

from __future__ import annotations

import pytest

from tests.support import conformance

IDS = [row["id"] for row in conformance.rows()]
TABLES = {"4.1": 2, "4.2": 25, "4.5": 3, "4.7": 6, "4.8": 4, "7.1": 7, "7.2": 7}


@pytest.mark.parametrize("row", conformance.rows(), ids=IDS)
def test_a_promise_names_tests_that_are_there(row):
    assert row["tests"]
    assert not conformance.missing(row)


def test_every_promise_stands_in_the_ledger_once():
    assert len(set(IDS)) == len(IDS)
    assert {str(number) for number in [*range(1, 29), *range(38, 51)]} <= set(IDS)
    for table, least in TABLES.items():
        assert sum(id.startswith(f"{table} ") for id in IDS) >= least, table


def test_a_promise_without_a_test_would_be_found():
    row = {"tests": ["handlers/test_authorize.py::test_of_nothing", "nowhere.py::test_a"]}

    assert conformance.missing(row) == row["tests"]


def test_the_page_is_made_from_the_ledger():
    assert conformance.PAGE.read_text(encoding="utf-8") == conformance.page()
