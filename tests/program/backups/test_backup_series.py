"""`idp backup --into`: backups by a timer, verified, with a rule for which ones stay."""

from __future__ import annotations

import fcntl
import json
import os
import random
import shutil
import signal
import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from idp.backup import series, stores
from idp.backup.series import LAST, LOCK
from idp.start import exit_codes
from tests.program.backups.backing_up import write_passphrase
from tests.program.backups.test_backup_commands import cheap, directory, idp, installation, run
from tests.support.programs.program import command, environment

__all__ = ["cheap", "directory", "installation"]  # fixtures

NOW = datetime(2026, 3, 1, 3, 0, 5, 250_000, tzinfo=UTC)
INTO = ("backup", "--into", "saved")


class At:
    """The clock of the commands: each of these instants for one command, then the last one."""

    def __init__(self, *instants):
        self.instants = list(instants)

    def now(self):
        return self.instants[0]


@pytest.fixture
def clock(monkeypatch):
    clock = At(NOW)
    monkeypatch.setattr(series, "SystemClock", lambda: clock)
    return clock


@pytest.fixture
def saved(directory):
    (directory / "saved").mkdir()
    return directory / "saved"


def add_old(saved, *days_before, content=b"an old backup"):
    for days in days_before:
        instant = (NOW - timedelta(days=days)).strftime("%Y%m%dT%H%M%SZ")
        (saved / f"idp-{instant}.idp").write_bytes(content)


def names(saved):
    return sorted(each.name for each in saved.iterdir() if each.name != LOCK)


@pytest.mark.full
def test_a_backup_is_named_by_its_instant_in_utc_verified_and_described(directory, saved, clock):
    ended = idp(directory, *INTO, "--json")

    assert names(saved) == ["idp-20260301T030005Z.idp", LAST]
    path = saved / "idp-20260301T030005Z.idp"
    assert path.stat().st_mode & 0o777 == 0o600
    said = json.loads(ended.stdout)
    assert said["file"] == "saved/idp-20260301T030005Z.idp"
    assert said["removed"] == []
    assert json.loads((saved / LAST).read_bytes()) == {
        "file": path.name,
        "madeAt": "2026-03-01T03:00:05Z",
        "verifiedAt": "2026-03-01T03:00:05Z",
        "records": said["records"],
        "bytes": path.stat().st_size,
    }
    assert series.read_last(saved).made_at == NOW.replace(microsecond=0)
    assert json.loads(idp(directory, "backup", "verify", str(path), "--json").stdout)["records"]


def test_those_that_the_rule_does_not_keep_are_removed_after_it(directory, saved, clock):
    add_old(saved, 1, 2, 3, 8, 30)

    ended = idp(directory, *INTO, "--keep", "2d,2w")

    assert names(saved) == [
        "idp-20260221T030005Z.idp",
        "idp-20260228T030005Z.idp",
        "idp-20260301T030005Z.idp",
        LAST,
    ]
    assert "removed idp-20260227T030005Z.idp\n" in ended.stderr


def test_without_a_rule_and_of_other_names_none_is_removed(directory, saved, clock):
    add_old(saved, 1, 2, 300)
    for name in ("monday.idp", "idp-20261399T000000Z.idp", "idp-20260101T000000Z.idp.copy"):
        (saved / name).write_bytes(b"mine")
    before = names(saved)

    idp(directory, *INTO)
    assert set(before) < set(names(saved))
    clock.instants = [NOW + timedelta(seconds=1)]
    idp(directory, *INTO, "--keep", "1y")

    assert names(saved) == [
        "idp-20260101T000000Z.idp.copy",
        "idp-20260301T030006Z.idp",
        "idp-20261399T000000Z.idp",
        LAST,
        "monday.idp",
    ]


def test_the_new_one_stays_where_the_clock_was_set_back(directory, saved, clock):
    add_old(saved, -1, -2)

    idp(directory, *INTO, "--keep", "1d")

    assert names(saved) == ["idp-20260301T030005Z.idp", "idp-20260303T030005Z.idp", LAST]


def test_a_backup_that_does_not_verify_gets_no_name_and_removes_none(
    directory, saved, clock, monkeypatch
):
    add_old(saved, 1, 2, 3)
    before, make = names(saved), stores.make

    async def make_damaged(config, path, *arguments, **options):
        manifest = await make(config, path, *arguments, **options)
        whole = path.read_bytes()
        path.write_bytes(whole[:900] + bytes([whole[900] ^ 1]) + whole[901:])
        return manifest

    monkeypatch.setattr(stores, "make", make_damaged)
    ended = idp(directory, *INTO, "--keep", "1d", code=exit_codes.FAILED)

    assert "backup.damaged" in ended.stderr
    assert names(saved) == before


def test_a_second_one_at_the_same_time_ends_with_75_and_does_nothing(directory, saved):
    with (saved / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ended = idp(directory, *INTO, code=75)

    assert "is running" in ended.stderr
    assert names(saved) == []
    idp(directory, *INTO)


def test_what_killed_ones_left_is_removed_by_the_next(directory, saved, clock):
    left = (".unverified-idp-x.idp", "..unverified-idp-x.idp.abc", f".{LAST}.abc")
    for name in left:
        (saved / name).write_bytes(b"half")

    idp(directory, *INTO)

    assert not set(left) & set(names(saved))


@pytest.mark.parametrize("remaining", range(4))
def test_a_removal_that_is_cut_off_leaves_the_verified_one(
    directory, saved, clock, monkeypatch, remaining
):
    add_old(saved, 1, 2, 3, 4)
    unlink, allowed = Path.unlink, remaining

    def killed(path, **options):
        nonlocal allowed
        if path.name.startswith("idp-"):
            if not allowed:
                raise KeyboardInterrupt
            allowed -= 1
        unlink(path, **options)

    with monkeypatch.context() as cut_off:
        cut_off.setattr(Path, "unlink", killed)
        assert run(directory, *INTO, "--keep", "1d", "--passphrase-file", "secret").returncode

    newest = series.read_last(saved).file
    assert len(names(saved)) == 6 - remaining
    idp(directory, "backup", "verify", f"saved/{newest}")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--into", "nowhere"), "nowhere can't be used"),
        (("--into", "secret"), "secret can't be used"),
        (("--into", "saved", "--keep", "7"), "7d,4w,12m"),
    ],
)
def test_what_can_not_be_used_is_refused(directory, saved, words, said):
    ended = idp(directory, "backup", *words, code=exit_codes.USAGE)

    assert said in ended.stderr
    assert not (directory / "nowhere").exists()
    assert names(saved) == []


def test_the_passphrase_comes_from_a_file_alone(directory, saved):
    ended = run(directory, *INTO)

    assert ended.returncode == exit_codes.USAGE
    assert "--passphrase-file" in ended.stderr


def test_a_passphrase_of_root_for_the_own_group_is_taken(directory, saved, monkeypatch):
    (directory / "secret").chmod(0o440)
    monkeypatch.setattr(os, "geteuid", lambda: 10001)
    fstat = os.fstat

    def of_root(descriptor):
        fields = list(fstat(descriptor))
        fields[4] = 0
        return os.stat_result(fields)

    monkeypatch.setattr(os, "fstat", of_root)
    idp(directory, *INTO)
    (directory / "secret").chmod(0o444)

    assert "chmod 600" in idp(directory, *INTO, code=exit_codes.USAGE).stderr


def test_a_directory_without_a_backup_has_no_last_one(saved):
    assert series.read_last(saved) is None


@pytest.mark.load
@pytest.mark.gen_test(timeout=600)
def test_whenever_it_is_killed_a_verified_backup_is_left(installed):
    work, chance = installed.parent, random.Random(1)
    saved, seal = work / "saved", write_passphrase(work)
    saved.mkdir()
    line = command(*INTO, "--keep", "1d", "--passphrase-file", str(seal))
    run_whole = lambda: subprocess.run(line, cwd=work, env=environment(), check=True)  # noqa: E731
    began = time.monotonic()
    run_whole()
    lasts = time.monotonic() - began
    for n in range(50):
        first = saved / series.read_last(saved).file
        for days in range(1, 200):  # so that a removal takes long enough to be met
            target = saved / f"idp-{NOW - timedelta(days=days):%Y%m%dT%H%M%SZ}.idp"
            target.unlink(missing_ok=True)
            os.link(first, target)
        with subprocess.Popen(
            line, cwd=work, env=environment(), start_new_session=True, stderr=subprocess.DEVNULL
        ) as process:
            # Every second one is met while it removes.
            ends_at = time.monotonic() + lasts * chance.uniform(0.2, 1.1)
            while process.poll() is None and time.monotonic() < ends_at:
                if n % 2 and len(names(saved)) < 200 - 7 * (n // 2):
                    break
                time.sleep(0.0002)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        words = command("backup", "verify", "--passphrase-file", str(seal))
        newest = f"saved/{series.read_last(saved).file}"
        subprocess.run([*words, newest], cwd=work, env=environment(), check=True)
    run_whole()

    assert len([name for name in names(saved) if name.startswith("idp-")]) == 1
    shutil.rmtree(saved)
