"""The benchmark of the protocol: that it runs, and that the service is as fast as was promised."""

from __future__ import annotations

import json
import socket
import threading

import pytest
from msgspec import structs

from benchmarks.protocol import places, results
from benchmarks.protocol.__main__ import main
from benchmarks.protocol.load import PendingSignIn, Unexpected, once
from benchmarks.protocol.scenarios import SCENARIOS, Target
from benchmarks.protocol.steps import get
from tests.interop import node
from tests.support.skips import skip
from tests.support.slices import one_in

# What is reached with other work on the machine, a little below the lowest that was seen; what is
# asked for is more, and the benchmark says which of it is missed.
REACHED = {
    ("sqlite", "introspect", "bare"): 0.42,
    ("sqlite", "user_info", "bare"): 0.45,
    ("sqlite", "machine_client_credentials_login", "bare"): 0.52,
    ("sqlite", "machine_client_credentials_login_jwt", "bare"): 0.65,
    ("mongodb", "introspect", "bare"): 0.34,
    ("mongodb", "introspect", "oidc-provider"): 4,
    ("mongodb", "user_info", "bare"): 0.35,
    ("mongodb", "user_info", "oidc-provider"): 2.9,
    ("mongodb", "machine_client_credentials_login", "bare"): 0.38,
    ("mongodb", "machine_client_credentials_login", "oidc-provider"): 1.7,
}


def brief(directory, *more):
    """Arguments for a run that is over at once."""
    flags = ["--rounds=1", "--seconds=0.02", "--count=20", "--memory-after=0"]
    return [*flags, f"--directory={directory}", f"--json={directory}/results.json", *more]


def told(directory):
    return json.loads((directory / "results.json").read_bytes())


@pytest.fixture
def installed():
    """oidc-provider, where npm can have it."""
    try:
        node.install(node.find(places.NODE), places.OIDC_PROVIDER)
    except node.NoNode as error:
        skip(error)


@pytest.mark.parametrize("processes", one_in(2, [2, 1]))
def test_every_scenario_is_measured_beside_a_bare_handler(tmp_path, capsys, processes):
    main(brief(tmp_path, "--store=sqlite", f"--processes={processes}", "--without-node"))

    found = told(tmp_path)
    table = capsys.readouterr().out
    assert [each["scenario"] for each in found["results"]] == list(SCENARIOS)
    for each in found["results"]:
        assert each["scenario"] in table
        assert each["figures"]["idp"]["rate"] > 0
        assert each["ratios"]["bare"]["cpu"] > 0
    (memory,) = found["memory"]
    assert memory["processes"] == processes
    assert 20 < memory["megabytes"] < 500


@pytest.mark.parametrize(
    ("store", "named"),
    one_in(
        2,
        [
            ("mongodb", ["oidc-provider"]),
            ("sqlite", ["oidc-provider in memory", "oidc-provider over SQLite"]),
        ],
    ),
)
def test_oidc_provider_is_asked_for_the_same(mongod, installed, tmp_path, store, named):
    flags = [f"--store={store}", f"--mongodb={mongod}", "--processes=1"]
    main(brief(tmp_path, *flags, "--scenario=introspect", "--scenario=refresh"))

    introspect, refresh = told(tmp_path)["results"]
    assert list(introspect["figures"]) == ["idp", "bare", *named]
    assert list(refresh["figures"]) == ["idp", "bare", *named, "RS256 alone"]


def test_a_missed_target_is_named_with_its_profile_and_the_benchmark_ends_with_one(
    tmp_path, monkeypatch, capsys
):
    target = Target("sqlite", "bare", 1000)
    wanted = structs.replace(SCENARIOS["user_info"], targets=(target,))
    monkeypatch.setitem(SCENARIOS, "user_info", wanted)
    flags = ["--store=sqlite", "--processes=1", "--scenario=user_info", "--without-node"]

    assert main(brief(tmp_path, *flags)) == 1

    said = capsys.readouterr().out
    assert "user_info on sqlite" in said.partition("missed:")[2]
    assert "profile of user_info" in said
    assert "tornado" in said


def test_memory_beyond_the_limit_is_missed():
    used = results.Memory("sqlite", 1, 100_000, results.MAX_MEGABYTES + 1)

    assert "memory on sqlite" in "".join(results.missed([], [used]))


def test_an_answer_that_is_not_the_expected_one_ends_the_load(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        threading.Thread(target=_refuse, args=(server,)).start()

        with pytest.raises(Unexpected, match="401 Unauthorized"):
            once(port, PendingSignIn([get("localhost", "/", {})]))


def _refuse(server):
    connection, _ = server.accept()
    with connection:
        connection.recv(1000)
        connection.sendall(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")


@pytest.mark.load
@pytest.mark.parametrize("store", ["sqlite", "mongodb"])
def test_the_protocol_is_as_fast_as_was_reached(
    mongod, installed, tmp_path, record_property, store
):
    """Judged by processor time, which other work on the machine disturbs little."""
    wanted = [name for name, scenario in SCENARIOS.items() if scenario.targets]
    flags = [f"--store={store}", f"--mongodb={mongod}", "--processes=1", "--rounds=9"]
    flags += [f"--directory={tmp_path}", f"--json={tmp_path}/results.json", "--seconds=0.5"]
    main([*flags, *(f"--scenario={name}" for name in wanted)])
    found = told(tmp_path)

    ratios = {
        (store, each["scenario"], target["yardstick"]): each["ratios"][target["yardstick"]]["cpu"]
        for each in found["results"]
        for target in each["targets"]
    }
    said = [f"{name} {yardstick} {ratio:.2f}" for (_, name, yardstick), ratio in ratios.items()]
    record_property("counts", f"{store}: {', '.join(said)}")
    assert ratios.keys() == {key for key in REACHED if key[0] == store}
    for key, ratio in ratios.items():
        assert ratio >= REACHED[key], key
    for each in found["results"]:
        assert all(figures["load_busy"] < 0.5 for figures in each["figures"].values()), each
    (memory,) = found["memory"]
    assert memory["requests"] >= 100_000
    assert memory["megabytes"] <= results.MAX_MEGABYTES
