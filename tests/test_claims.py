"""What the documents claim of how much an installation can hold and where it can run, and what
shows it. A claim that nothing shows does not get in.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CALCULATED = "calculated"

# Each claim was reviewed: the words on the page, and the test, the program or the page that shows
# it. What was calculated is in a section that says so.
CLAIMS = {
    "docs/scaling.md": {
        "Sessions, tokens and keys go on": "tests/program/test_backup_program.py",
        "the restore has compared every record already": "idp/backup/restoring.py",
        "in memory that does not grow with their number": "benchmarks/backup/__main__.py",
        "36 commands, 31 of them": "tests/flows/test_store_budget.py",
        "With 80 ms between the regions a sign-in takes up to 2.5 s": CALCULATED,
        "50 million people who sign in once a day": CALCULATED,
        "sign-ins a second at the peak, which are 50,000 commands a second": CALCULATED,
        "(`mongo.rtt`) and warns above 5 ms": "tests/program/doctor_store_cases.py",
        "a sharded": "tests/idp/start/test_checks.py",
        "the first 12 bits of SHA-256": "on paper",
    },
    "docs/operating.md": {
        "as a **replica set** (one member will do)": "tests/storage/test_mongo_opening.py",
        "The tests run on MongoDB 6.0": "tests/support/mongod.py",
        "A standalone server is refused at the start": "tests/storage/test_mongo_opening.py",
        "[sharded cluster](scaling.md#sharding) gets a warning": "tests/storage/test_condition.py",
        "an unreachable server is given up after 2 s": "tests/storage/test_mongo_opening.py",
    },
}
# A figure with a unit of size or speed, or a word on where the service runs.
CLAIMING = re.compile(
    r"\b\d[\d,.]* (?:ms|s|seconds?|MB|GB|TB|bits|cores|commands|million|sign-ins)\b"
    r"|\bshard(?:ed|ing)\b"
)


def read(page):
    return re.sub(r"\s+", " ", (ROOT / page).read_text(encoding="utf-8"))


def sentences(text):
    return re.split(r"(?<=[.:]) (?=[A-Z*`#\[])| \* | #+ ", text)


@pytest.mark.parametrize("page", CLAIMS)
def test_each_claim_is_on_its_page_and_what_shows_it_is_there(page):
    text = read(page)

    assert [words for words in CLAIMS[page] if words not in text] == []
    evidence = {each for each in CLAIMS[page].values() if "/" in each}
    assert [each for each in evidence if not (ROOT / each).exists()] == []
    if CALCULATED in CLAIMS[page].values():
        assert "Calculated, not measured:" in text


def test_scaling_claims_nothing_else():
    found = [each for each in sentences(read("docs/scaling.md")) if CLAIMING.search(each)]
    reviewed = CLAIMS["docs/scaling.md"]

    assert found
    assert [each for each in found if not any(words in each for words in reviewed)] == []


@pytest.mark.parametrize(
    "claim",
    ["It answers 90,000 commands a second.", "A sharded cluster works.", "A start takes 3 ms."],
)
def test_a_claim_is_recognised(claim):
    assert CLAIMING.search(claim)


def test_no_page_offers_a_sharded_cluster():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]

    assert [str(each) for each in pages if "or a sharded cluster" in read(each)] == []
