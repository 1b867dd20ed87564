"""The benchmark of sign-ins: that it runs, and says what it found."""

from __future__ import annotations

import pytest

from benchmarks.sign_in.__main__ import main
from benchmarks.sign_in.people import KINDS


@pytest.mark.load
def test_a_refusals_time_and_a_crowd_are_measured(tmp_path, capsys):
    brief = ["--tries=2", "--people=4", "--seconds=0.5", "--back-end=sqlite"]
    main([*brief, f"--directory={tmp_path}"])

    table = capsys.readouterr().out
    assert all(f"\n{kind}" in table for kind in KINDS)
    assert "userinfo, p99" in table
    assert "target is" in table
