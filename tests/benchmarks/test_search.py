"""The benchmark of searches among users: that it runs, and that typed words are found as fast as
was promised."""

from __future__ import annotations

import pytest

from benchmarks.search.__main__ import SEARCHES, WORDS, main

PEOPLE = 2000


def test_every_search_is_measured(tmp_path, capsys):
    flags = [f"--count={PEOPLE}", "--rounds=2", "--back-end=sqlite", f"--directory={tmp_path}"]
    code = main(flags)

    said = capsys.readouterr().out
    for name in (*SEARCHES, *WORDS):
        assert f"\n{name}, all " in said
    assert code == ("is missed" in said)
    assert "both in the other order, all" in said


@pytest.mark.load
def test_a_search_by_words_among_a_million_users_takes_a_tenth_of_a_second(
    tmp_path, capsys, record_property
):
    main(["--count=1000000", "--back-end=sqlite", f"--directory={tmp_path}"])

    said = capsys.readouterr().out
    (verdict,) = [line for line in said.splitlines() if "typed words" in line]
    record_property("counts", verdict)
    assert "is met" in verdict, said
