"""What the documents claim of how much an installation can hold and where it can run, and what
shows it. A claim that nothing shows does not get in.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.test_house import MANUAL

ROOT = Path(__file__).parent.parent
CALCULATED = "calculated"

OPERATING = "the pages for operators"
# Each claim was reviewed: the words on the page, and the test, the program or the page that shows
# it. What was calculated is in a section that says so.
CLAIMS = {
    "docs/how-to/scaling.md": {
        "Sessions, tokens and keys stay valid": "tests/program/backups/test_backup_program.py",
        "the restore has compared every record already": "idp/backup/restoring.py",
        "in memory that does not grow with their number": "benchmarks/backup/__main__.py",
        "(`mongo.rtt`) and warns above 5 ms": "tests/program/doctor/doctor_store_cases.py",
        "a sharded": "tests/idp/start/test_checks.py",
    },
    OPERATING: {
        "with the new key within 10 seconds": "tests/idp/start/test_master_keys.py",
        "`drain_seconds` and 10 seconds more": "tests/deploy/test_chart.py",
        "no sign of life for 90 seconds": "deploy/systemd/idp.service",
        "next one resumes once 15 seconds have passed": "tests/storage/opening/test_upgrades.py",
        "It grows to 260 MB before it is begun anew": "storage/sqlite/store.py",
        "certificate is in use within 35 seconds": "tests/fire/under_load/test_certificates.py",
        "new ones are noticed within 35 seconds": "tests/fire/under_load/test_certificates.py",
        "they are noticed within 30 seconds": "tests/fire/under_load/test_certificates.py",
        "may keep the key set for 300 seconds": "tests/idp/oauth/test_key_rotation.py",
        "Within 300 seconds of the last time": "tests/idp/oauth/test_key_rotation.py",
        "(by other processes within 5 seconds)": "tests/program/test_keys.py",
        "new connections after 5 seconds and is killed": "tests/fire/under_load/test_workers.py",
        "can't write, is killed after those 5 seconds": "tests/program/test_supervision.py",
        "as a **replica set** (one member will do)": "tests/storage/mongo/test_mongo_opening.py",
        "The tests run on MongoDB 6.0": "tests/support/servers/mongod.py",
        "A standalone server is refused at the start": "tests/storage/mongo/test_mongo_opening.py",
        "cluster](scaling.md#sharding) gets a warning": "tests/storage/opening/test_condition.py",
        "an unreachable server is given up after 2 s": "tests/storage/mongo/test_mongo_opening.py",
        "can stop writes for about 13 s": "tests/storage/fire/test_mongo_failover.py",
        "by 503 with `Retry-After` within 8 seconds": "tests/fire/under_load/test_store_away.py",
        "discovery, keys, stylesheets, pictures | 128 | 512 | 1 s": "tests/test_stated_figures.py",
        "503 with `Retry-After`, 1 to 3 seconds at random": "tests/handlers/http/test_overload.py",
        "1 KiB a second of a response, over 30 seconds": "tests/idp/server/test_connections.py",
        "more than 0.1 seconds to arrive": "tests/handlers/http/test_overload.py",
        "as measured (`python -m benchmarks.growth`)": "benchmarks/growth/__main__.py",
        "calculated: 100,000 people are 0.2 GB": CALCULATED,
        "these are 23 GB at any time": CALCULATED,
        "it waits at most 2.5 seconds to open a store": "tests/program/doctor/test_doctor_time.py",
        "has not run for 5 seconds": "tests/deploy/test_alerts.py",
        "at most 3 seconds for the last spans": "tests/idp/foundation/test_tracing.py",
        "The code was redeemed 3 s ago": "an example",
        "has not ended 5 seconds after its time": "tests/fire/under_load/test_workers.py",
    },
    "docs/how-to/backup.md": {
        "InSeconds`, 300 seconds": "tests/program/doctor/doctor_store_cases.py",
        "2 seconds of processor to write, 1.3 to verify": "benchmarks/backup/__main__.py",
        "It takes 6.5 seconds of processor for 110,000 records": "benchmarks/backup/__main__.py",
        "is taken over 15 seconds later": "tests/storage/opening/test_filling.py",
        "was killed less than 15 seconds ago": "tests/storage/opening/test_filling.py",
    },
    "docs/reference/metrics.md": {
        "come from one process, every 15 seconds": "idp/server/store_metrics.py",
        "about 2.5 MB for each process": "tests/idp/foundation/test_metrics.py",
        "`idle` (no request for 75 s)": "tests/test_stated_figures.py",
    },
}
# A figure with a unit of size or speed, or a word on where the service runs.
CLAIMING = re.compile(
    r"\b\d[\d,.]* (?:ms|s|seconds?|MB|GB|TB|bits|cores|commands|million|sign-ins)\b"
    r"|\bshard(?:ed|ing)\b"
)
# Tables that are made of what the program has.
_GENERATED = re.compile(r"<!-- (\w+): made by .*?<!-- end of \1 -->")


def read(page):
    pages = MANUAL if page == OPERATING else [page]
    return " ".join(
        re.sub(r"\s+", " ", (ROOT / each).read_text(encoding="utf-8")) for each in pages
    )


def sentences(text):
    return re.split(r"(?<=[.:]) (?=[A-Z*`#\[])| \* | #+ ", text)


@pytest.mark.parametrize("page", CLAIMS)
def test_each_claim_is_on_its_page_and_what_shows_it_is_there(page):
    text = read(page)

    assert [words for words in CLAIMS[page] if words not in text] == []
    evidence = {each for each in CLAIMS[page].values() if "/" in each}
    assert [each for each in evidence if not (ROOT / each).exists()] == []
    if CALCULATED in CLAIMS[page].values():
        assert re.search(r"Calculated, not measured:|So, calculated:", text)


@pytest.mark.parametrize("page", CLAIMS)
def test_a_page_claims_nothing_else(page):
    text = _GENERATED.sub("", read(page))
    found = [each for each in sentences(text) if CLAIMING.search(each)]
    reviewed = CLAIMS[page]

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
