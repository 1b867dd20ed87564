"""`idp backup`, `idp restore` and `idp copy-store`, as typed."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import signal
import subprocess
from pathlib import Path

import pytest

from idp import exits
from idp.clock import SystemClock
from idp.ids import SystemRandom
from idp.records import EVENTS, Event
from storage import Insert
from tests.flows.conftest import at
from tests.support import invariants
from tests.support.backups import all_of, as_served
from tests.support.program import Program, command, environment, run
from tests.support.spent import Spent

PASSPHRASE = "correct horse battery canary"
CLOCK = SystemClock()


@pytest.fixture
def directory(installed):
    """Where a service has been started, and stopped, and where a file has the passphrase."""
    write_passphrase(installed.parent)
    return installed.parent


def write_passphrase(directory, text=PASSPHRASE, name="secret"):
    path = Path(directory) / name
    path.write_text(f"{text}\n")
    path.chmod(0o600)
    return path


def idp(directory, *words, code=exits.OK, **settings):
    """Run a command that has to end so, with the passphrase in the file `secret`."""
    asks = words[0] in ("backup", "restore") and "--passphrase-file" not in words
    more = ("--passphrase-file", "secret") if asks else ()
    ended = run(directory, *words, *more, **settings)
    assert ended.returncode == code, ended.stderr
    assert "Traceback" not in ended.stderr
    return ended


def url(directory, data="idp-data"):
    return f"sqlite:///{directory}/{data}/idp.sqlite3"


def stored(directory, data="idp-data"):
    return asyncio.run(all_of(url(directory, data), CLOCK))


def without_leases(records):
    return [each for each in records[1:] if each[0].name != "leases"]


def test_a_backup_is_one_file_that_nobody_else_may_read_and_that_tells_nothing(directory):
    ended = idp(directory, "backup", "made.idp")

    path = directory / "made.idp"
    assert path.stat().st_mode & 0o777 == 0o600
    assert re.fullmatch(r"made\.idp has \d+ records of \d+ collections\n", ended.stderr)
    assert ended.stdout == ""
    key = (directory / "idp-data" / "master.key").read_bytes().strip()
    octets = path.read_bytes()
    for canary in (PASSPHRASE.encode(), key, b"signing_keys", b"admin", b"localhost"):
        assert canary not in octets
    left = {each.name for each in directory.iterdir()}
    assert left == {"idp-data", "made.idp", "secret"}


def test_a_backup_is_restored_byte_for_byte(directory):
    before = stored(directory)
    idp(directory, "backup", "made.idp")

    ended = idp(directory, "restore", "made.idp", "--data", "other")

    assert without_leases(stored(directory, "other")) == without_leases(before)
    assert stored(directory, "other")[0] == before[0]
    old, new = (directory / data / "master.key" for data in ("idp-data", "other"))
    assert old.read_bytes() == new.read_bytes()
    assert new.stat().st_mode & 0o777 == 0o600
    assert new.parent.stat().st_mode & 0o777 == 0o700
    assert "--invalidate-tokens" in ended.stderr
    invariants.files_are_whole(url(directory, "other"))


def test_the_manifest_tells_what_is_in_it(directory):
    made = idp(directory, "backup", "made.idp", "--json").stdout
    told = json.loads(idp(directory, "backup", "verify", "made.idp", "--json").stdout)
    for_people = idp(directory, "backup", "verify", "made.idp")

    assert {"madeAt", "program", "schema", "records", "collections"} == set(told)
    assert json.loads(made)["collections"] == told["collections"]
    assert told["records"] == sum(each["count"] for each in told["collections"].values())
    assert re.search(r"^users +2$", for_people.stdout, re.MULTILINE)
    assert "made.idp is whole" in for_people.stderr


def test_a_file_that_is_there_is_replaced_only_when_that_is_meant(directory):
    idp(directory, "backup", "made.idp")
    before = (directory / "made.idp").read_bytes()

    ended = idp(directory, "backup", "made.idp", code=exits.CONFLICT)

    assert "--overwrite" in ended.stderr
    assert (directory / "made.idp").read_bytes() == before
    idp(directory, "backup", "make", "made.idp", "--overwrite")
    assert (directory / "made.idp").read_bytes() != before


def test_a_backup_that_fails_leaves_no_file(directory):
    (directory / "idp-data" / "master.key").unlink()

    ended = idp(directory, "backup", "made.idp", code=exits.USAGE)

    assert "master key" in ended.stderr
    assert not list(directory.glob("*made*"))
    ended = idp(directory, "backup", "nowhere/made.idp", code=exits.USAGE)


def test_where_there_is_no_installation_none_is_made_by_a_backup(tmp_path):
    write_passphrase(tmp_path)

    ended = idp(tmp_path, "backup", "made.idp", code=exits.NOT_FOUND)

    assert "no installation" in ended.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["secret"]


@pytest.mark.parametrize(
    ("text", "mode", "told"),
    [
        ("too short", 0o600, "12 to 4096"),
        ("x" * 5000, 0o600, "12 to 4096"),
        (PASSPHRASE, 0o644, "chmod 600"),
    ],
)
def test_a_passphrase_that_protects_nothing_is_refused(directory, text, mode, told):
    write_passphrase(directory, text, "weak").chmod(mode)

    words = ("backup", "made.idp", "--passphrase-file", "weak")
    ended = idp(directory, *words, code=exits.USAGE)

    assert told in ended.stderr
    assert not (directory / "made.idp").exists()


def test_without_a_terminal_the_passphrase_has_to_be_in_a_file(directory):
    ended = run(directory, "backup", "made.idp")

    assert ended.returncode == exits.USAGE
    assert "--passphrase-file" in ended.stderr


# What is refused writes nothing


@pytest.fixture
def made(directory):
    idp(directory, "backup", "made.idp")
    return directory


def refused(directory, *words, code, told):
    before = {each.name for each in directory.iterdir()}
    ended = idp(directory, "restore", *words, "--data", "other", code=code)
    assert told in ended.stderr
    assert {each.name for each in directory.iterdir()} == before


def test_a_wrong_passphrase_restores_nothing(made):
    write_passphrase(made, "another passphrase", "wrong")

    words = ("made.idp", "--passphrase-file", "wrong")
    refused(made, *words, code=exits.FAILED, told="not the passphrase")


def test_a_damaged_or_truncated_backup_restores_nothing(made):
    whole = (made / "made.idp").read_bytes()
    for octets in (
        whole[:-1],
        whole[: len(whole) // 2],
        whole[:500] + bytes([whole[500] ^ 1]) + whole[501:],
        whole + b"\0",
        b"",
        b"not a backup at all",
    ):
        (made / "made.idp").write_bytes(octets)
        refused(made, "made.idp", code=exits.FAILED, told="backup")


def test_what_is_not_there_or_no_file_is_told_so(made):
    refused(made, "nothing.idp", code=exits.NOT_FOUND, told="there is no file")
    refused(made, ".", code=exits.USAGE, told="directory")


def test_a_store_that_is_in_use_is_left_alone(made):
    before = stored(made)

    ended = idp(made, "restore", "made.idp", code=exits.CONFLICT)

    assert "not empty" in ended.stderr
    assert stored(made) == before


def test_another_master_key_is_not_replaced(made):
    other = made / "other"
    other.mkdir()
    key = other / "master.key"
    key.write_text("A" * 43 + "\n")
    key.chmod(0o600)

    ended = idp(made, "restore", "made.idp", "--data", "other", code=exits.USAGE)

    assert "master key" in ended.stderr
    assert [each.name for each in other.iterdir()] == ["master.key"]
    assert key.read_text() == "A" * 43 + "\n"


def test_a_master_key_that_the_settings_name_is_not_written_anywhere(made):
    key = made / "idp-data" / "master.key"

    idp(made, "restore", "made.idp", "--data", "other", IDP_MASTER_KEY_FILE=str(key))

    assert not (made / "other" / "master.key").exists()


# Cut off


def test_a_store_whose_restore_was_killed_is_served_by_nobody_and_can_be_restored(made):
    asyncio.run(grow(url(made), 20_000))
    idp(made, "backup", "made.idp", "--overwrite")
    kill_restore(made, "other", written=lambda file: file.stat().st_size > 2_000_000)

    for words in (["serve", "--port", "0"], ["schema", "status"], ["org", "list"]):
        ended = run(made, *words, "--data", "other")
        assert ended.returncode == exits.FAILED, ended.stderr
        assert "idp restore" in ended.stderr
    ended = run(made, "backup", "b.idp", "--data", "other", "--passphrase-file", "secret")
    assert ended.returncode != exits.OK

    restore_again(made, "other")

    assert without_leases(stored(made, "other")) == without_leases(stored(made))


def restore_again(directory, data):
    """As an operator does who is told that the other restore may still be at work."""
    while True:
        words = ("restore", "made.idp", "--passphrase-file", "secret", "--data", data)
        ended = run(directory, *words)
        if "at this moment" not in ended.stderr:
            break
    assert ended.returncode == exits.OK, ended.stderr


def kill_restore(directory, data, written):
    words = ("restore", "made.idp", "--passphrase-file", "secret", "--data", data)
    file = directory / data / "idp.sqlite3-wal"
    process = subprocess.Popen(
        command(*words),
        cwd=directory,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while process.poll() is None:
        if file.exists() and written(file):
            break
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(10))
def test_a_restore_that_is_killed_anywhere_and_repeated_is_whole(made, seed):
    asyncio.run(grow(url(made), 20_000))
    idp(made, "backup", "made.idp", "--overwrite")
    chance = random.Random(seed)
    for _ in range(3):
        size = chance.randrange(100_000, 8_000_000)
        kill_restore(made, "other", written=lambda file, size=size: file.stat().st_size > size)

    restore_again(made, "other")

    assert without_leases(stored(made, "other")) == without_leases(stored(made))


async def grow(store_url, n):
    """Give the store so many records more."""
    chance, now = SystemRandom(), CLOCK.now()
    async with as_served(store_url, CLOCK, None) as store:
        for start in range(0, n, 5000):
            units = [[Insert(EVENTS, event(chance, now))] for _ in range(min(5000, n - start))]
            assert not any(await store.commit_each(units))


def event(chance, now):
    return Event(
        id=chance.ordered_id(now),
        collection="users",
        record_id=chance.id(),
        sequence=1,
        type="user.created",
        actor="a test",
        at=now,
        payload=[("kind", "human")],
    )


# While it serves, and afterwards


@pytest.mark.gen_test(timeout=180)
@pytest.mark.parametrize("invalidates", [False, True])
async def test_a_service_goes_on_from_its_backup_and_what_was_spent_stays_so(
    tmp_path, open_browser, invalidates
):
    write_passphrase(tmp_path)
    program = Program(tmp_path).start()
    place, port = await at(program), program.port
    spent = await Spent.make(place, open_browser(program), program.user)
    await place.store.close()
    idp(tmp_path, "backup", "made.idp")  # while it serves
    program.kill()
    flags = ["--invalidate-tokens"] if invalidates else []
    idp(tmp_path, "restore", "made.idp", "--data", "other", *flags)
    again = Program(tmp_path, "--port", str(port), "--data", "other").start()

    try:
        browser = open_browser(again)
        if invalidates:
            page = await spent.party.refresh(browser, spent.living["refresh_token"])
            assert page.status == 400
            page = await spent.party.userinfo(browser, spent.living["access_token"])
            assert page.status == 401
        else:
            await spent.check(browser)
        again.stop()
    finally:
        again.kill()


@pytest.mark.gen_test(timeout=180)
async def test_a_backup_under_load_is_one_state(tmp_path, open_browser):
    write_passphrase(tmp_path)
    program = Program(tmp_path).start()
    party, browsers = program.demo(), [open_browser(program) for _ in range(3)]
    is_over = asyncio.Event()

    async def sign_in_and_out(browser):
        while not is_over.is_set():
            url = party.authorize_url(prompt="login", scope="openid offline_access")
            page = await browser.sign_in(url, *program.user)
            tokens = (await party.redeem(browser, page.answer["code"])).json()
            await party.refresh(browser, tokens["refresh_token"])

    load = [asyncio.ensure_future(sign_in_and_out(each)) for each in browsers]
    for n in range(3):
        await asyncio.to_thread(idp, tmp_path, "backup", f"{n}.idp")
    is_over.set()
    await asyncio.gather(*load)
    program.stop()

    for n in range(3):
        await asyncio.to_thread(idp, tmp_path, "restore", f"{n}.idp", "--data", f"data{n}")
        async with as_served(url(tmp_path, f"data{n}"), CLOCK, None) as store:
            await invariants.hold(store)


# Between back ends


@pytest.mark.gen_test(timeout=180)
async def test_one_grows_out_of_a_machine_and_back(directory, mongodb):
    before = await all_of(url(directory), CLOCK)
    copied = url(directory, "copied")
    (directory / "copied").mkdir()

    await asyncio.to_thread(idp, directory, "backup", "made.idp")
    words = ("restore", "made.idp", "--store", mongodb, "--data", "shared")
    await asyncio.to_thread(idp, directory, *words)
    words = ("copy-store", "--from", mongodb, "--to", copied)
    await asyncio.to_thread(idp, directory, *words)

    for each in (mongodb, copied):
        found = await all_of(each, CLOCK)
        assert without_leases(found) == without_leases(before)
        assert found[0] == before[0]
    assert [each.name for each in (directory / "shared").iterdir()] == ["master.key"]


def test_a_store_is_copied_into_an_empty_one_only(directory):
    (directory / "other").mkdir()
    words = ("copy-store", "--from", url(directory), "--to", url(directory, "other"))

    idp(directory, *words)
    ended = idp(directory, *words, code=exits.CONFLICT)

    assert "not empty" in ended.stderr
    assert without_leases(stored(directory, "other")) == without_leases(stored(directory))


@pytest.mark.parametrize("target", ["memory://", "nonsense://x"])
def test_a_store_is_copied_to_where_it_stays(directory, target):
    before = stored(directory)

    ended = run(directory, "copy-store", "--from", url(directory), "--to", target)

    assert ended.returncode != exits.OK
    assert ended.stderr.startswith("idp: ")
    assert stored(directory) == before


def test_what_is_not_there_is_not_copied(tmp_path):
    words = ("copy-store", "--from", url(tmp_path), "--to", url(tmp_path, "other"))
    ended = idp(tmp_path, *words, code=exits.NOT_FOUND)

    assert "no installation" in ended.stderr
    assert list(tmp_path.iterdir()) == []


# In numbers


@pytest.mark.deep
@pytest.mark.alone
@pytest.mark.parametrize("n", [300_000])
def test_memory_stays_flat_whatever_the_size(directory, n):
    idp(directory, "backup", "small.idp")
    small = peak(directory, "backup", "verify", "small.idp")
    asyncio.run(grow(url(directory), n))

    backing_up = peak(directory, "backup", "large.idp")
    verifying = peak(directory, "backup", "verify", "large.idp")
    restoring = peak(directory, "restore", "large.idp", "--data", "other")

    # argon2id takes 64 MiB by itself, whatever the size.
    assert max(backing_up, verifying, restoring) - small < 64 * 1024


def peak(directory, *words):
    """The most memory that a command had, in KiB."""
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    line = [*command(*words), "--passphrase-file", "secret"]
    ended = subprocess.run(
        [line[0], "-c", code, *line[5:]],
        cwd=directory,
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return int(ended.stdout.split()[-1])
