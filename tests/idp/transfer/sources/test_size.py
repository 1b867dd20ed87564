"""How long it takes, and how much memory, whatever the size."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.transfer.migrating import auth0_password, auth0_user, keycloak_user, lines

COUNT = 100_000
SECONDS = 60  # of the processor; 18 on the machine that this was written on
MEGABYTES = 60  # above a run over nobody; 25 there


@pytest.fixture
def used(tmp_path):
    """Runs the command, and answers what it took in seconds of the processor, and in megabytes."""

    def run(*arguments):
        code = (
            "import resource, sys; from idp.cli import main\n"
            "try: main()\n"
            "except SystemExit as end: assert not end.code, end.code\n"
            "used = resource.getrusage(resource.RUSAGE_SELF)\n"
            "print(used.ru_utime + used.ru_stime, used.ru_maxrss)"
        )
        command = ["migrate", *arguments, "--org", "1", "--report"]
        done = subprocess.run(
            [sys.executable, "-c", code, *command], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        seconds, kilobytes = done.stdout.split()
        return float(seconds), int(kilobytes) / 1024

    return run


@pytest.mark.load
def test_a_hundred_thousand_people_of_auth0_take_seconds_and_little_memory(tmp_path, used):
    for name, count in (("few", 1), ("many", COUNT)):
        with (tmp_path / f"{name}.json").open("wb") as file:
            file.writelines(lines(auth0_user(n)) for n in range(count))
        with (tmp_path / f"{name}-passwords.json").open("wb") as file:
            file.writelines(lines(auth0_password(n)) for n in reversed(range(count)))

    _, few = used("auth0", "--users", "few.json", "--passwords", "few-passwords.json")
    seconds, many = used("auth0", "--users", "many.json", "--passwords", "many-passwords.json")

    assert seconds < SECONDS
    assert many - few < MEGABYTES


@pytest.mark.load
def test_so_do_those_of_a_realm_in_one_file(tmp_path, used):
    for name, count in (("few", 1), ("many", COUNT)):
        with (tmp_path / f"{name}.json").open("wb") as file:
            file.write(b'{"realm": "acme", "users": [')
            file.writelines(
                b"," * bool(n) + lines(keycloak_user(n)).rstrip() for n in range(count)
            )
            file.write(b"]}")

    _, few = used("keycloak", "--realm", "few.json")
    seconds, many = used("keycloak", "--realm", "many.json")

    assert seconds < SECONDS
    assert many - few < MEGABYTES
