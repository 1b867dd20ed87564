"""Settings of the running program: where they come from, and what is refused."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest

from tests.support import patience
from tests.support.programs import program
from tests.support.programs.in_process import run
from tests.support.programs.program import eventually

SERVE = ("serve", "--json", "--port", "0")


def shown(tmp_path, *flags, **settings) -> dict[str, tuple[str, str]]:
    """What `idp config show --origin` prints: value and origin by name."""
    ran = run(tmp_path, "config", "show", "--origin", *flags, **settings)
    assert (ran.returncode, ran.stderr) == (0, "")
    found = {}
    for line in ran.stdout.splitlines():
        name, _, rest = line.partition(" ")
        value, _, origin = rest.strip().rpartition("  ")
        found[name] = (value.strip(), origin)
    return found


def test_a_flag_is_stronger_than_the_environment_and_that_than_the_file(tmp_path):
    file = tmp_path / "idp.toml"
    file.write_text('data = "filed"\nvendor = "filed"\nadmin_login_name = "filed"\n')
    found = shown(
        tmp_path,
        *("--config", "idp.toml", "--data", "flagged"),
        IDP_DATA="named",
        IDP_VENDOR="named",
    )

    assert found["data"] == ("flagged", "flag --data")
    assert found["vendor"] == ("named", "environment IDP_VENDOR")
    assert found["admin_login_name"] == ("filed", "file idp.toml")
    assert found["port"] == ("8080", "default")


def test_settings_from_everywhere_reach_the_running_service(start_program, tmp_path):
    (tmp_path / "idp.toml").write_text('admin_login_name = "root@corp.example"\n')
    program = start_program("--data", "here", IDP_CONFIG="idp.toml", IDP_PROCESSES="2")

    assert program.announcement["admin"]["loginName"] == "root@corp.example"
    assert program.announcement["dataDir"] == str(tmp_path / "here")
    assert len(program.workers()) == 2


@pytest.mark.parametrize(
    ("flags", "settings", "problem"),
    [
        ((), {"IDP_ISUER": "https://a.example"}, "IDP_ISUER is not a setting; the nearest is"),
        (("--config", "typo.toml"), {}, "porrt is not a setting; the nearest is port"),
        (("--config", "none.toml"), {}, "none.toml can't be read"),
        (("--config", "broken.toml"), {}, "broken.toml is not TOML"),
        ((), {"IDP_PROCESSES": "two"}, "processes must be a whole number (environment IDP"),
        (("--processes", "0"), {}, "processes must be from 1 to 256 (flag --processes)"),
        (("--tsl-cert", "x"), {}, "--tls-cert"),
        (("--store", "redis://x"), {}, "store must begin with"),
        (("--store", "memory://", "--processes", "2"), {}, "can't be shared by processes"),
        (("--data", "a file"), {}, "the data directory a file can't be made"),
    ],
)
def test_a_setting_that_can_not_be_used_is_reported_in_a_sentence(
    tmp_path, flags, settings, problem
):
    (tmp_path / "typo.toml").write_text("porrt = 1\n")
    (tmp_path / "broken.toml").write_text("port =\n")
    (tmp_path / "a file").write_text("")
    before = set(tmp_path.iterdir())
    ran = run(tmp_path, *SERVE, *flags, **settings)

    assert ran.returncode == 2
    assert problem in ran.stderr
    assert "Traceback" not in ran.stderr
    assert ran.stdout == ""
    assert set(tmp_path.iterdir()) == before


def test_every_problem_is_reported_at_once(tmp_path):
    ran = run(tmp_path, *SERVE, IDP_PORRT="1", IDP_PROCESSES="many", IDP_VENDOR="!")

    assert ran.returncode == 2
    assert len(ran.stderr.splitlines()) == 3


# Doors that don't open


@pytest.mark.parametrize("processes", ["1", "2"])
@pytest.mark.parametrize("is_shared", [False, True])
def test_a_port_that_is_taken_is_reported(tmp_path, processes, is_shared):
    with closing(socket.socket()) as taken:
        if is_shared:  # as several processes of another service do
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        ran = run(tmp_path, "serve", "--json", "--port", port, "--processes", processes)

    assert ran.returncode == 2
    assert ran.stderr == f"idp: 127.0.0.1:{port} can't be listened on: Address already in use\n"
    assert ran.stdout == ""


@pytest.mark.load
@pytest.mark.promise("start: port")
@pytest.mark.parametrize("repetition", range(5))
@pytest.mark.parametrize("processes", [1, 2])
def test_of_two_services_that_start_at_once_one_says_that_the_port_is_taken(
    start_program, installed, tmp_path, processes, repetition
):
    with closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        port = str(one.getsockname()[1])
    flags = ("--port", port, "--processes", str(processes))
    both = [start_program(*flags, waits=False) for _ in range(2)]

    eventually(
        lambda: any(each.process.poll() is not None for each in both), "one end", patience.SECONDS
    )
    refused = next(each for each in both if each.process.poll() is not None)
    serving = both[1 - both.index(refused)]

    assert refused.wait() == 2
    assert (
        refused.printed == f"idp: 127.0.0.1:{port} can't be listened on: Address already in use\n"
    )
    serving.wait_for(lambda: bool(serving.output), "its JSON line")


@pytest.mark.full
@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_mongodb_that_can_not_be_reached_is_reported(tmp_path, processes):
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        url = f"mongodb://someone:a-pass-word@127.0.0.1:{taken.getsockname()[1]}/idp"
        ran = program.run(tmp_path, *SERVE, "--processes", processes, "--store", url)

    assert ran.returncode == 69
    assert ran.stderr.startswith("idp: the store can't be reached: MongoDB")
    assert ran.stderr.count("idp: ") == 1
    assert "a-pass-word" not in ran.stderr
    assert "Traceback" not in ran.stderr
