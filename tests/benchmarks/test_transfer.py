"""The benchmark of imports: that it runs, and says what it found."""

from __future__ import annotations

import pytest

from benchmarks.transfer import packages
from benchmarks.transfer.__main__ import main
from benchmarks.transfer.imports import ProgressSample, steadiness
from tests.support.slices import one_in

PEOPLE = 200
ROWS = 1 + PEOPLE + PEOPLE // 10


@pytest.mark.parametrize("back_end", one_in(2, ["sqlite", "mongodb"]))
def test_an_import_is_measured_and_everybody_is_there_afterwards(
    mongod, tmp_path, capsys, back_end
):
    flags = [f"--users={PEOPLE}", f"--back-end={back_end}", f"--mongodb={mongod}"]
    code = main([*flags, f"--directory={tmp_path}"])

    said = capsys.readouterr().out
    figures = {line.split("  ")[0].strip(): line.split() for line in said.splitlines()}
    assert f"{PEOPLE} people, {ROWS} rows" in said
    assert figures["people who are there"][-3:] == [str(PEOPLE), str(PEOPLE), "met"]
    assert figures["who sign in, of those tried"][-3:] == ["3", "3", "met"]
    assert figures["rows"][-1] == str(ROWS)
    for name in ("seconds", "growth of the service, MB", "userinfo p99, ms"):
        assert figures[name][-1] in ("met", "missed")
    assert float(figures["longest stall of the loop, ms"][-4]) > 0
    assert float(figures["commit_each of ready units"][-1]) > 0
    assert code == ("missed" in said)


def test_the_rate_of_the_last_tenth_is_held_against_that_of_the_first():
    quick = [ProgressSample(n / 10, 10 * n) for n in range(51)]
    slow = [ProgressSample(5 + n / 5, 500 + 10 * n) for n in range(1, 51)]

    assert steadiness([*quick, *slow], 1000) == pytest.approx(0.5, abs=0.05)
    assert steadiness(quick[:5], 1000) is None


def test_a_package_holds_what_it_says(tmp_path):
    made = packages.write(tmp_path / "package.json", 30)
    text = made.file.read_text()

    assert made.rows == text.count('"userId"') + text.count('"key"') + 1 == 34
    assert text.count('"phone":{') == 15
    assert text.count('"isEmailVerified":true') == 10
    assert all(f'"userName":"{name}"' in text for name in made.tried)
