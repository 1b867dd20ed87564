"""The benchmark of the protocol: that it runs, and that the service is as fast as was promised."""

from __future__ import annotations

import json
import socket
import threading

import pytest
from msgspec import convert, structs

from benchmarks.protocol import places, reached, results
from benchmarks.protocol.__main__ import main
from benchmarks.protocol.load import (
    ADDRESS,
    Flow,
    PersistentConnection,
    Unexpected,
    held,
    once,
)
from benchmarks.protocol.rounds import Figures
from benchmarks.protocol.scenarios import SCENARIOS, Target
from benchmarks.protocol.steps import get, post
from tests.interop import node
from tests.support.servers.mongod import NoMongod
from tests.support.skips import skip
from tests.support.slices import one_in


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
def test_every_scenario_is_measured_beside_a_bare_handler_or_a_hash(tmp_path, capsys, processes):
    main(brief(tmp_path, "--store=sqlite", f"--processes={processes}", "--without-node"))

    found = told(tmp_path)
    table = capsys.readouterr().out
    assert [each["scenario"] for each in found["results"]] == list(SCENARIOS)
    for each in found["results"]:
        assert each["scenario"] in table
        assert each["figures"]["idp"]["rate"] > 0
        beside = "argon2id alone" if each["scenario"] == "whole_sign_in" else "bare"
        assert each["ratios"][beside]["cpu"] > 0
    (memory,) = found["memory"]
    assert memory["processes"] == processes
    assert 20 < memory["megabytes"] < memory["megabytes_after_sign_ins"] < 500


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
    names = ["introspect", "refresh", "whole_sign_in"]
    main(brief(tmp_path, *flags, *(f"--scenario={name}" for name in names)))

    introspect, refresh, sign_in = told(tmp_path)["results"]
    assert list(introspect["figures"]) == ["idp", "bare", *named]
    assert list(refresh["figures"]) == ["idp", "bare", *named, "RS256 alone"]
    assert list(sign_in["figures"]) == ["idp", *named, "argon2id alone"]


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


def judged(targets=(), **database_seconds):
    """A result in which everybody takes the same time, beside that of their database."""
    alike = Figures(*[1.0] * 7)
    found = {
        name: structs.replace(alike, database_cpu_ms=taken)
        for name, taken in database_seconds.items()
    }
    return results.Result("sqlite", 1, "user_info", found, list(targets))


def test_a_missed_wish_is_no_missed_target():
    result = judged([Target("sqlite", "bare", 2, is_wish=True)], idp=0, bare=0)

    assert not list(results.missed([result], []))
    assert "wished 2" in "".join(results.missed([result], [], wishes=True))


def test_memory_beyond_the_limit_is_missed():
    used = results.Memory("sqlite", 1, 100_000, results.MAX_MEGABYTES + 1)

    assert "memory on sqlite" in "".join(results.missed([], [used]))


def test_the_time_of_a_database_counts_on_both_sides_or_not_at_all():
    result = judged(idp=1, node=5, bare=0)

    assert (result.cpu_ratio("node"), result.cpu_ratio("bare")) == (3, 1)


def replies(answers, received):
    """The port of a server that gives these answers, one after the other, on one connection."""

    def serve():
        with server, server.accept()[0] as connection:
            for answer in answers:
                received.append(connection.recv(10_000).decode())
                connection.sendall(f"HTTP/1.1 {answer}\r\nContent-Length: 0\r\n\r\n".encode())

    server = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve).start()
    return server.getsockname()[1]


def test_an_answer_that_is_not_the_expected_one_ends_the_load():
    port = replies(["401 Unauthorized"], [])

    with pytest.raises(Unexpected, match="401 Unauthorized"):
        once(port, Flow([get("localhost", "/", {})]))


def test_each_operation_has_a_new_browser_that_keeps_cookies_and_follows_redirects():
    answers = [
        "303 See Other\r\nSet-Cookie: seat=12; Path=/\r\nLocation: http://localhost/page",
        "200 OK\r\nHidden: a-value",
        "303 See Other\r\nSet-Cookie: seat=; Path=/\r\nLocation: /resume",
        "303 See Other\r\nLocation: https://client.example.com/cb?code=secret",
        "200 OK",
    ]
    opened = get("localhost", "/in", {}, is_browser=True, takes={"hidden": r"Hidden: (\S+)"})
    expected = {"status": 303, "takes": {"code": r"code=(\S+)"}, "is_browser": True}
    sent = post("localhost", held(ADDRESS), {"token": held("hidden")}, {}, **expected)
    redeemed = get("localhost", f"/token/{held('code')}", {})
    received = []
    browser = PersistentConnection(replies(answers * 2, received), Flow([opened, sent, redeemed]))
    with browser.connection.socket:
        browser.once()
        browser.once()

    line, cookie = " HTTP/1.1\r\nHost: localhost\r\n", "Cookie: seat=12\r\n"
    form = "Content-Type: application/x-www-form-urlencoded\r\n"
    assert received[:5] == received[5:]
    assert received[:5] == [
        f"GET /in{line}\r\n",
        f"GET /page{line}{cookie}\r\n",
        f"POST /page{line}{form}{cookie}Content-Length: 13\r\n\r\ntoken=a-value",
        f"GET /resume{line}\r\n",
        f"GET /token/secret{line}\r\n",
    ]


@pytest.mark.load
@pytest.mark.parametrize("store", ["sqlite", "mongodb"])
def test_the_protocol_is_as_fast_as_was_reached(installed, tmp_path, record_property, store):
    """Judged by processor time, which other work on the machine disturbs little; the run starts
    its own mongod, whose processor time it reads."""
    flags = [f"--store={store}", "--processes=1", "--rounds=9", "--seconds=0.5"]
    try:
        main([*flags, f"--directory={tmp_path}", f"--json={tmp_path}/results.json"])
    except NoMongod as error:
        skip(error)

    found = convert(told(tmp_path)["results"], list[results.Result])
    (memory,) = told(tmp_path)["memory"]
    record_property("counts", str(reached.ratios(found)))
    assert not list(reached.slower(found))
    assert all(each.load_busy < 0.5 for result in found for each in result.figures.values())
    assert memory["requests"] >= 100_000
    assert memory["megabytes"] <= results.MAX_MEGABYTES
