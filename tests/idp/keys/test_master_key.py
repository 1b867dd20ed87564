from __future__ import annotations

import multiprocessing
import os
import stat

import pytest

from idp.foundation import base64url
from idp.foundation.errors import ConfigError
from idp.foundation.randomness import SystemRandom
from idp.keys.key_files import master_key
from idp.keys.master_key import MasterKey, WrongKey
from tests.support.random import SeededRandom

KEY = bytes(range(32))


@pytest.fixture
def vault():
    return MasterKey(KEY, SeededRandom())


@pytest.mark.parametrize("plaintext", [b"", b"\x00\xff" * 5000, b"x"])
def test_what_is_sealed_is_opened_again(vault, plaintext):
    sealed = vault.seal(plaintext, "totp")

    assert vault.open(sealed, "totp") == plaintext
    assert MasterKey(KEY).open(sealed, "totp") == plaintext
    assert sealed.startswith("v1.")


def test_text_is_sealed_as_utf_8(vault):
    assert vault.open(vault.seal("grün", "totp"), "totp") == "grün".encode()


def test_no_two_sealings_are_alike(vault):
    assert len({vault.seal("the same", "totp") for _ in range(100)}) == 100


def test_a_value_opens_only_with_its_own_key_and_purpose(vault):
    sealed = vault.seal("secret", "totp")

    with pytest.raises(WrongKey, match="master key"):
        MasterKey(KEY[::-1]).open(sealed, "totp")
    with pytest.raises(WrongKey) as refused:
        vault.open(sealed, "mail")
    assert "secret" not in str(refused.value)


def test_an_altered_value_does_not_open(vault):
    sealed = vault.seal("secret", "totp")

    for place in range(len(sealed)):
        altered = sealed[:place] + ("A" if sealed[place] != "A" else "B") + sealed[place + 1 :]
        with pytest.raises(WrongKey):
            vault.open(altered, "totp")


@pytest.mark.parametrize(
    "sealed", ["", "v1.", "v1.AAAA", "v2.AAAA", "v1.é", "v1.\udc80", "plain", "v1." + "A" * 40]
)
def test_what_is_no_sealed_value_does_not_open(vault, sealed):
    with pytest.raises(WrongKey):
        vault.open(sealed, "totp")


def test_a_cut_value_does_not_open(vault):
    sealed = vault.seal("secret", "totp")

    for length in range(len(sealed)):
        with pytest.raises(WrongKey):
            vault.open(sealed[:length], "totp")


def test_a_mac_depends_on_key_purpose_and_data(vault):
    digest = vault.mac("code", "1234")

    assert digest == MasterKey(KEY).mac("code", b"1234")
    assert len(digest) == 32
    assert len({digest, vault.mac("mail", "1234"), vault.mac("code", "1235")} | {other_mac()}) == 4


def other_mac():
    return MasterKey(KEY[::-1]).mac("code", "1234")


def test_the_forms_of_stored_values_stay_as_they_are():
    """Values from older versions must be readable: these change only with a new version mark."""
    vault = MasterKey(KEY)

    assert vault.fingerprint() == "Wani5W6O7Qv9kfVLz-8Npg"
    assert (
        base64url.encode(vault.mac("code", "1234"))
        == "tUSncNQG4hH6pzHAIQYJyWpCHlEd5XpWEFvq5yrMz0U"
    )
    assert vault.open("v1.OLTmUuRNp_I3DZ4mh0RPkfiqhkITwNIQPhmLyrnXnSOXLi26", "totp") == b"a secret"


def test_the_fingerprint_distinguishes_keys():
    assert MasterKey(KEY).fingerprint() != MasterKey(KEY[::-1]).fingerprint()
    assert len(MasterKey(KEY).fingerprint()) == 22


def test_a_master_key_shows_its_bytes_in_no_repr(vault):
    assert base64url.encode(KEY) not in repr(vault)
    assert "\\x01\\x02" not in repr(vault)


@pytest.mark.parametrize("key", [b"", b"short", bytes(31), bytes(33)])
def test_a_key_of_another_size_is_refused(key):
    with pytest.raises(ValueError, match="32 bytes"):
        MasterKey(key)


def test_the_key_is_made_once_and_for_the_owner_only(tmp_path):
    data = tmp_path / "deep" / "idp-data"

    key = master_key(data, SeededRandom())

    path = data / "master.key"
    assert len(key) == 32
    assert path.read_text() == base64url.encode(key) + "\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    assert master_key(data, SeededRandom(2)) == key
    assert os.listdir(data) == ["master.key"]


def test_the_key_is_the_owners_only_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        master_key(tmp_path / "data", SystemRandom())
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "data" / "master.key").stat().st_mode) == 0o600


def _make(data, barrier, results):
    barrier.wait()
    results.put(master_key(data, SystemRandom()))


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_processes_that_start_at_once_agree_on_one_key(tmp_path):
    context = multiprocessing.get_context("spawn")
    for attempt in range(2):
        data = tmp_path / str(attempt)
        barrier, results = context.Barrier(4), context.SimpleQueue()
        processes = [
            context.Process(target=_make, args=(data, barrier, results)) for _ in range(4)
        ]
        for process in processes:
            process.start()
        keys = {results.get() for _ in processes}
        for process in processes:
            process.join()

        assert len(keys) == 1
        assert os.listdir(data) == ["master.key"]


def test_the_loser_of_the_race_takes_the_winners_key(tmp_path):
    class Overtaken(SeededRandom):
        def token_bytes(self, n):
            if n == 32:
                (tmp_path / "master.key").touch(0o600)
                (tmp_path / "master.key").write_text(base64url.encode(KEY) + "\n")
            return super().token_bytes(n)

    assert master_key(tmp_path, Overtaken()) == KEY
    assert os.listdir(tmp_path) == ["master.key"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o620, 0o610])
def test_a_key_file_that_is_open_to_others_is_refused_with_the_fix(tmp_path, mode):
    master_key(tmp_path, SystemRandom())
    path = tmp_path / "master.key"
    path.chmod(mode)

    with pytest.raises(ConfigError) as refused:
        master_key(tmp_path, SystemRandom())

    assert f"chmod 600 {path}" in refused.value.message
    assert f"{mode:04o}" in refused.value.message


@pytest.mark.parametrize("text", ["", "\n", "short", base64url.encode(bytes(31)), "ü" * 43])
def test_a_key_file_that_holds_no_key_is_refused(tmp_path, text):
    path = tmp_path / "master.key"
    path.touch(0o600)
    path.write_text(text, encoding="utf-8")

    with pytest.raises(ConfigError, match="43 characters"):
        master_key(tmp_path, SystemRandom())

    assert path.read_text(encoding="utf-8") == text


def test_a_key_may_be_given_as_text_or_file(tmp_path):
    path = tmp_path / "other.key"
    path.touch(0o400)
    path.chmod(0o600)
    path.write_text(base64url.encode(KEY))

    assert master_key(tmp_path, SystemRandom(), text=base64url.encode(KEY) + "\n") == KEY
    assert master_key(tmp_path, SystemRandom(), file=str(path)) == KEY
    assert os.listdir(tmp_path) == ["other.key"]


def test_a_key_that_was_named_is_never_made(tmp_path):
    with pytest.raises(ConfigError, match="can't be read"):
        master_key(tmp_path, SystemRandom(), file=str(tmp_path / "missing"))
    with pytest.raises(ConfigError) as refused:
        master_key(tmp_path, SystemRandom(), text="not a key")

    assert "not a key" not in refused.value.message
    assert os.listdir(tmp_path) == []


def test_a_missing_key_is_made_only_where_it_may_be(tmp_path):
    with pytest.raises(ConfigError, match="restore .*master.key from the backup"):
        master_key(tmp_path / "data", SystemRandom(), may_create=False)
    assert os.listdir(tmp_path) == []

    key = master_key(tmp_path, SystemRandom())
    assert master_key(tmp_path, SystemRandom(), may_create=False) == key


def test_a_directory_that_can_not_be_made_is_a_clear_refusal(tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(ConfigError, match="can't be made"):
        master_key(tmp_path / "file" / "data", SystemRandom())
