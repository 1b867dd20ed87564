"""The benchmark of the store: that it runs, and that the store is as fast as was promised."""

from __future__ import annotations

import json

import pytest

from benchmarks.storage import comparisons, places
from benchmarks.storage.__main__ import main
from benchmarks.storage.rounds import Target, measured

ROUNDS = 11
SECONDS = 0.15


def brief(*more):
    """Arguments for a run that is over at once."""
    return ["--rounds=1", "--seconds=0.005", *more]


def test_every_back_end_is_measured_beside_its_raw_driver(mongod, tmp_path, capsys):
    file = tmp_path / "results.json"
    main(brief(f"--mongodb={mongod}", f"--directory={tmp_path}", f"--json={file}"))

    table = capsys.readouterr().out
    results = json.loads(file.read_bytes())["results"]
    assert list(results) == ["sqlite", "pymongo", "motor"]
    for each in (each for found in results.values() for each in found):
        assert each["name"] in table
        assert each["ratio"] == each["ours"]["rate"] / each["yardstick"]["rate"]
        assert len(each["by_round"]) == 1


def test_a_missed_target_is_named_and_the_benchmark_ends_with_one(tmp_path, monkeypatch, capsys):
    target = Target("a point read is a thousand times as fast as the select", 1000)
    monkeypatch.setattr(comparisons, "POINT_READ", target)

    assert main(brief("--back-end=sqlite", f"--directory={tmp_path}")) == 1
    assert f"sqlite: {target.sentence}" in capsys.readouterr().out


@pytest.mark.deep
@pytest.mark.gen_test(timeout=120)
@pytest.mark.parametrize("back_end", places.BACK_ENDS)
async def test_the_store_is_as_fast_as_was_promised(back_end, request):
    """Judged by the median of the rounds' own ratios, because other work comes and goes."""
    with places.directory(None) as directory:
        place = directory if back_end == "sqlite" else request.getfixturevalue("mongod")
        async with places.comparing(back_end, place) as found:
            promised = [each for each in found if each.target is not None]
            results = [await measured(each, ROUNDS, SECONDS) for each in promised]

    for each in results:
        print(f"{back_end}: {each.target.sentence}: {each.within_rounds:.2f} {each.by_round}")
    assert len(results) == 2
    assert all(each.within_rounds >= each.target.at_least for each in results)
